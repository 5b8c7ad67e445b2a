-- Addresses of the owner's that are told of events. `place` is how far each has been told of the log.
CREATE TABLE webhooks (
  name TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  url TEXT NOT NULL,
  secrets TEXT NOT NULL,
  kinds TEXT NOT NULL,
  agents TEXT NOT NULL,
  shape TEXT NOT NULL,
  bodies INTEGER NOT NULL,
  state TEXT NOT NULL,
  since INTEGER NOT NULL,
  error TEXT,
  place TEXT NOT NULL,
  counted INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER
) WITHOUT ROWID;

-- Events on their way. Of one line, a session or an agent, only the first waiting is sent.
CREATE TABLE webhook_posts (
  webhook TEXT NOT NULL,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  line TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  error TEXT,
  PRIMARY KEY (webhook, number)
) WITHOUT ROWID;
CREATE INDEX webhook_posts_line ON webhook_posts (webhook, state, line, number);
