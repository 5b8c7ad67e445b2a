-- A name that nobody ever used, and the owner wants to see no more: what was sent there still names it.
ALTER TABLE agents ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
