-- The first schema, for SQLite. Names in every column but agents.name are folded; times are microseconds since the epoch.
-- One row of `sessions` holds both of its members (low and high), because a session always has exactly two.

CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO about VALUES ('oldest_program', '1');

CREATE TABLE agents (
  agent TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  id TEXT NOT NULL UNIQUE,
  card TEXT NOT NULL,
  has_key INTEGER NOT NULL DEFAULT 0,
  acted INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_seen INTEGER
) WITHOUT ROWID;

CREATE TABLE mailboxes (
  agent TEXT PRIMARY KEY,
  counted INTEGER NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 0,
  pending INTEGER NOT NULL DEFAULT 0,
  leased INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

INSERT INTO agents (agent, name, id, card, acted, created_at) VALUES
  ('system', 'system', '00000000-0000-7000-8000-000000000001', '{}', 1, 0),
  ('owner', 'owner', '00000000-0000-7000-8000-000000000002', '{"allow_from":["*"]}', 1, 0);
INSERT INTO mailboxes (agent) VALUES ('system'), ('owner');

CREATE TABLE keys (
  hash TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  prefix TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) WITHOUT ROWID;
CREATE INDEX keys_agent ON keys (agent, created_at);

CREATE TABLE connections (
  id TEXT PRIMARY KEY,
  requester TEXT NOT NULL,
  target TEXT NOT NULL,
  status TEXT NOT NULL,
  code TEXT NOT NULL,
  note TEXT,
  assurance TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX connections_code ON connections (code) WHERE status = 'PENDING';
CREATE UNIQUE INDEX connections_pending ON connections (requester, target) WHERE status = 'PENDING';
CREATE INDEX connections_expiring ON connections (expires_at) WHERE status = 'PENDING';
CREATE INDEX connections_requester ON connections (requester, id);
CREATE INDEX connections_target ON connections (target, id);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  low TEXT NOT NULL,
  high TEXT NOT NULL,
  subject TEXT NOT NULL,
  subject_key TEXT NOT NULL,
  counted INTEGER NOT NULL,
  unread_low INTEGER NOT NULL,
  unread_high INTEGER NOT NULL,
  replies_left INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  UNIQUE (low, high, subject_key)
) WITHOUT ROWID;
CREATE INDEX sessions_low ON sessions (low, last_at);
CREATE INDEX sessions_high ON sessions (high, last_at);

CREATE TABLE messages (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  sender TEXT NOT NULL,
  client_id TEXT,
  type TEXT NOT NULL,
  ref_id TEXT,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX messages_client_id ON messages (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX messages_ref ON messages (ref_id, id) WHERE ref_id IS NOT NULL;

CREATE TABLE deliveries (
  id INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  number INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  state TEXT NOT NULL,
  sender TEXT NOT NULL,
  type TEXT NOT NULL,
  session_id TEXT,
  session_number INTEGER,
  correlation_id TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  token TEXT,
  tokenless INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER,
  created_at INTEGER NOT NULL,
  leased_at INTEGER,
  settled_at INTEGER,
  reason TEXT
);
CREATE UNIQUE INDEX deliveries_message ON deliveries (message_id, mailbox);
CREATE INDEX deliveries_session ON deliveries (session_id, session_number) WHERE session_id IS NOT NULL;
-- What waits, in the order it is given out. Only waiting rows are in it, so neither backlog nor leases slow it down.
CREATE INDEX deliveries_waiting ON deliveries (mailbox, priority, number) WHERE state = 'pending';
CREATE INDEX deliveries_thread ON deliveries (session_id, mailbox, priority, number) WHERE state = 'pending' AND session_id IS NOT NULL;
-- Whether a session has something in hand.
CREATE INDEX deliveries_in_hand ON deliveries (session_id, mailbox) WHERE state = 'leased' AND session_id IS NOT NULL;
CREATE INDEX deliveries_correlated ON deliveries (mailbox, correlation_id, priority, number)
  WHERE state = 'pending' AND correlation_id IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (mailbox) WHERE state = 'held';
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_dead ON deliveries (mailbox, number) WHERE state = 'dead';

CREATE TABLE tasks (
  message_id TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  requester TEXT NOT NULL,
  assignee TEXT NOT NULL,
  state TEXT NOT NULL,
  subject TEXT NOT NULL,
  session_id TEXT,
  deadline INTEGER,
  overdue INTEGER NOT NULL DEFAULT 0,
  callback TEXT,
  steps TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX tasks_id ON tasks (id);
CREATE INDEX tasks_assignee ON tasks (assignee, message_id);
CREATE INDEX tasks_requester ON tasks (requester, message_id);
CREATE INDEX tasks_under_way ON tasks (assignee) WHERE state IN ('accepted', 'working');
CREATE INDEX tasks_deadline ON tasks (deadline)
  WHERE deadline IS NOT NULL AND overdue = 0 AND state IN ('pending', 'accepted', 'working');

CREATE TABLE entities (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  notes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE events (
  n INTEGER PRIMARY KEY,
  mailbox TEXT NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  ref TEXT NOT NULL,
  data TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE UNIQUE INDEX events_mailbox ON events (mailbox, number);

CREATE TABLE dedupe (
  sender TEXT NOT NULL,
  addressee TEXT NOT NULL,
  client_id TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  answer TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (sender, addressee, client_id)
) WITHOUT ROWID;
CREATE INDEX dedupe_at ON dedupe (at);

CREATE TABLE tombstones (message_id TEXT PRIMARY KEY, sender TEXT NOT NULL, purged_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE limits (bucket TEXT PRIMARY KEY, begun_at INTEGER NOT NULL, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE roles (role TEXT PRIMARY KEY, holder TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Filled behind the senders' backs, from the log of events: searching costs sending nothing.
CREATE VIRTUAL TABLE search USING fts5 (text, message_id UNINDEXED, tokenize = 'unicode61 remove_diacritics 2');
