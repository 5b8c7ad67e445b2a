-- Notes and mail to oneself, which stand in no session.
CREATE INDEX IF NOT EXISTS deliveries_outside ON deliveries (mailbox, priority, number) WHERE state = 'pending' AND session_id IS NULL;
