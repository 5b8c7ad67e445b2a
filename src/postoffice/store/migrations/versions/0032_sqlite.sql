-- Lists. The id of each is that of its session, which all its members read; it outlives the list.
CREATE TABLE lists (
  id TEXT PRIMARY KEY,
  list TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  owner TEXT NOT NULL,
  who_may_post TEXT NOT NULL,
  who_may_join TEXT NOT NULL,
  history INTEGER NOT NULL,
  posters TEXT NOT NULL,
  members INTEGER NOT NULL,
  counted INTEGER NOT NULL,
  replies_left INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_at INTEGER,
  ended_at INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX lists_name ON lists (list) WHERE ended_at IS NULL;
CREATE INDEX lists_owner ON lists (owner) WHERE ended_at IS NULL;

-- Who is, was or may be on a list; what of it is unread is counted as mail moves.
CREATE TABLE list_members (
  list_id TEXT NOT NULL,
  agent TEXT NOT NULL,
  place TEXT NOT NULL,
  added_by TEXT NOT NULL,
  since INTEGER NOT NULL,
  floor INTEGER NOT NULL,
  begins INTEGER NOT NULL,
  ends INTEGER,
  unread INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (list_id, agent)
) WITHOUT ROWID;
CREATE INDEX list_members_agent ON list_members (agent);

-- What was written to a list, in its one order: a thread is read without going through the deliveries of all members.
CREATE TABLE list_letters (
  list_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  canceled INTEGER NOT NULL,
  PRIMARY KEY (list_id, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX list_letters_message ON list_letters (message_id);
