-- When a letter comes to its recipient, as long as it has not, and from when on it is not given out any more.
ALTER TABLE deliveries ADD COLUMN deliver_at INTEGER;
ALTER TABLE deliveries ADD COLUMN expires_at INTEGER;
CREATE INDEX deliveries_scheduled ON deliveries (deliver_at) WHERE state = 'held' AND deliver_at IS NOT NULL;
CREATE INDEX deliveries_expiring ON deliveries (expires_at) WHERE state IN ('held', 'pending') AND expires_at IS NOT NULL;
-- What ended before its time came: its recipient never hears of it.
CREATE INDEX deliveries_never_came ON deliveries (mailbox) WHERE deliver_at IS NOT NULL AND state <> 'held';
