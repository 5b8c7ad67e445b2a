-- Which sessions of a mailbox have mail that waits, and what waits in one of them.
DROP INDEX deliveries_thread;
CREATE INDEX deliveries_thread ON deliveries (mailbox, session_id, priority, number) WHERE state = 'pending' AND session_id IS NOT NULL;
