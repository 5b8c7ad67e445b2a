-- How many bytes wait in a mailbox is counted with every letter that comes and goes. Of what is done with nobody asks any more.
ALTER TABLE deliveries ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mailboxes ADD COLUMN waiting_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE deliveries SET size = (SELECT length(CAST(m.body AS BLOB)) FROM messages m WHERE m.id = message_id) WHERE state <> 'acked';
UPDATE mailboxes SET waiting_bytes =
  coalesce((SELECT sum(d.size) FROM deliveries d WHERE d.mailbox = agent AND d.state IN ('held', 'pending', 'leased')), 0);
