-- How many numbers of a session no letter has any more: one that waited for its time gets another when it comes.
ALTER TABLE sessions ADD COLUMN gaps bigint NOT NULL DEFAULT 0;

-- What died before its time came is nobody's dead letter.
UPDATE mailboxes SET dead = dead - (SELECT count(*) FROM deliveries d WHERE d.mailbox = mailboxes.agent AND d.deliver_at IS NOT NULL AND d.state = 'dead')
WHERE agent IN (SELECT mailbox FROM deliveries WHERE deliver_at IS NOT NULL AND state = 'dead');
