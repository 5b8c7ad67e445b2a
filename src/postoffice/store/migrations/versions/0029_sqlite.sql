-- How a person's address is told; a webhook has nothing there.
ALTER TABLE webhooks ADD COLUMN notify TEXT;

-- Links by which one question is answered. Of each the hash is kept.
CREATE TABLE answer_links (
  hash TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  question TEXT NOT NULL,
  webhook TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX answer_links_end ON answer_links (expires_at);
