-- When a person opened what waits for them. It is looked for among what still waits, which is little.
ALTER TABLE deliveries ADD COLUMN seen_at INTEGER;
CREATE INDEX deliveries_seen ON deliveries (mailbox) WHERE state = 'pending' AND seen_at IS NOT NULL;
