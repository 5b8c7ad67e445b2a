-- What a task is part of, how far it is, whether it waits for others, and whether its requester was told that its assignee's window is gone.
ALTER TABLE tasks ADD COLUMN parent uuid;
ALTER TABLE tasks ADD COLUMN percent bigint;
ALTER TABLE tasks ADD COLUMN blocked boolean NOT NULL DEFAULT false;
ALTER TABLE tasks ADD COLUMN gone boolean NOT NULL DEFAULT false;
CREATE INDEX tasks_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_blocked ON tasks (message_id) WHERE blocked = true AND state IN ('pending', 'accepted', 'working');

-- Which tasks one waits for.
CREATE TABLE task_links (
  message_id uuid NOT NULL,
  blocker uuid NOT NULL,
  PRIMARY KEY (message_id, blocker)
);
CREATE INDEX task_links_blocker ON task_links (blocker);
