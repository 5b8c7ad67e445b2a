-- Each is an agent that only writes. Of its token the hash is kept, none once it is revoked; a secret signs, and so has to be kept itself.
CREATE TABLE hooks (
  name TEXT PRIMARY KEY,
  hash TEXT UNIQUE,
  recipient TEXT NOT NULL,
  proof TEXT NOT NULL,
  secret TEXT,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
