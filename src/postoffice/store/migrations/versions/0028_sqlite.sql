-- Letters that are sent again and again, and when each comes next.
CREATE TABLE recurring (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  verified INTEGER NOT NULL,
  every TEXT NOT NULL,
  zone TEXT NOT NULL,
  missed TEXT NOT NULL,
  letter TEXT NOT NULL,
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_at INTEGER,
  sent INTEGER NOT NULL,
  trouble TEXT
) WITHOUT ROWID;
CREATE INDEX recurring_next ON recurring (next_at);
