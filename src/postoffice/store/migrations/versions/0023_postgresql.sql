-- Since when an agent's mail is paused, until when, by whom and why.
ALTER TABLE mailboxes ADD COLUMN paused_at bigint;
ALTER TABLE mailboxes ADD COLUMN paused_until bigint;
ALTER TABLE mailboxes ADD COLUMN paused_by text COLLATE "C";
ALTER TABLE mailboxes ADD COLUMN pause_reason text COLLATE "C";
CREATE INDEX mailboxes_paused ON mailboxes (paused_until) WHERE paused_until IS NOT NULL;
