-- Mailboxes that several agents take from; their counts are a mailbox's like any other's.
CREATE TABLE mail_roles (
  agent TEXT PRIMARY KEY,
  made_by TEXT NOT NULL,
  capability TEXT,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Who is in them by name.
CREATE TABLE role_staff (
  role TEXT NOT NULL,
  agent TEXT NOT NULL,
  PRIMARY KEY (role, agent)
) WITHOUT ROWID;

-- Who has each of their sessions, and who took each of their letters last.
CREATE TABLE role_sessions (
  session_id TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  agent TEXT NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE role_takes (
  message_id TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  agent TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (message_id, mailbox)
) WITHOUT ROWID;

-- Of a task that was sent to a role and is somebody's now: the role.
ALTER TABLE tasks ADD COLUMN role TEXT;
