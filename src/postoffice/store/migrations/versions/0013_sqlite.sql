-- Where an agent's client is open right now: one row for each process, until it ends.
CREATE TABLE windows (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  client TEXT NOT NULL,
  session TEXT,
  process INTEGER NOT NULL,
  started TEXT NOT NULL,
  folder TEXT NOT NULL,
  machine TEXT NOT NULL,
  ring TEXT NOT NULL,
  state TEXT NOT NULL,
  state_at INTEGER NOT NULL,
  shared INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  until INTEGER NOT NULL,
  UNIQUE (machine, process, started)
) WITHOUT ROWID;
CREATE INDEX windows_agent ON windows (agent);

-- Names that windows have had: whether a person chose it, and which machine's it is.
CREATE TABLE window_names (
  agent TEXT PRIMARY KEY,
  chosen INTEGER NOT NULL,
  prefix TEXT
) WITHOUT ROWID;

-- Which name a client's session had, for when it is resumed.
CREATE TABLE window_sessions (
  client TEXT NOT NULL,
  session TEXT NOT NULL,
  agent TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (client, session)
) WITHOUT ROWID;

-- Keys by which a machine opens windows, whose agents' names all begin alike.
CREATE TABLE machine_keys (
  hash TEXT PRIMARY KEY,
  prefix TEXT NOT NULL,
  shown TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) WITHOUT ROWID;

-- For what somebody was rung, how often, and what came of it.
CREATE TABLE rings (
  message_id TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  times INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  turn_at INTEGER,
  told_at INTEGER,
  PRIMARY KEY (message_id, mailbox)
) WITHOUT ROWID;
CREATE INDEX rings_unturned ON rings (mailbox) WHERE turn_at IS NULL;
