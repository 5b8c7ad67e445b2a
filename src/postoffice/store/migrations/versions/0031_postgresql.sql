-- Mailboxes that several agents take from; their counts are a mailbox's like any other's.
CREATE TABLE mail_roles (
  agent text COLLATE "C" PRIMARY KEY,
  made_by text COLLATE "C" NOT NULL,
  capability text COLLATE "C",
  created_at bigint NOT NULL
);

-- Who is in them by name.
CREATE TABLE role_staff (
  role text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  PRIMARY KEY (role, agent)
);

-- Who has each of their sessions, and who took each of their letters last.
CREATE TABLE role_sessions (
  session_id uuid PRIMARY KEY,
  role text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  at bigint NOT NULL
);
CREATE TABLE role_takes (
  message_id uuid NOT NULL,
  mailbox text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (message_id, mailbox)
);

-- Of a task that was sent to a role and is somebody's now: the role.
ALTER TABLE tasks ADD COLUMN role text COLLATE "C";
