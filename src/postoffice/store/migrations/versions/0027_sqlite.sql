-- What a task is part of, how far it is, whether it waits for others, and whether its requester was told that its assignee's window is gone.
ALTER TABLE tasks ADD COLUMN parent TEXT;
ALTER TABLE tasks ADD COLUMN percent INTEGER;
ALTER TABLE tasks ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;
CREATE INDEX tasks_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_blocked ON tasks (message_id) WHERE blocked = 1 AND state IN ('pending', 'accepted', 'working');

-- Which tasks one waits for.
CREATE TABLE task_links (
  message_id TEXT NOT NULL,
  blocker TEXT NOT NULL,
  PRIMARY KEY (message_id, blocker)
) WITHOUT ROWID;
CREATE INDEX task_links_blocker ON task_links (blocker);
