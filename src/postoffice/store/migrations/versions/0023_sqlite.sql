-- Since when an agent's mail is paused, until when, by whom and why.
ALTER TABLE mailboxes ADD COLUMN paused_at INTEGER;
ALTER TABLE mailboxes ADD COLUMN paused_until INTEGER;
ALTER TABLE mailboxes ADD COLUMN paused_by TEXT;
ALTER TABLE mailboxes ADD COLUMN pause_reason TEXT;
CREATE INDEX mailboxes_paused ON mailboxes (paused_until) WHERE paused_until IS NOT NULL;
