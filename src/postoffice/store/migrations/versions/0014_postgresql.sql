-- Whoever leased a delivery may settle it late, while nobody else has taken it: so it must be known who that was.
ALTER TABLE deliveries ADD COLUMN holder text;
-- What an agent has in hand, and of it what is in one session.
DROP INDEX deliveries_in_hand;
CREATE INDEX deliveries_in_hand ON deliveries (mailbox, session_id) WHERE state = 'leased';
