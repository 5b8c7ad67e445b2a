-- What each agent remembers of letters that came round to it.
CREATE TABLE memories (
  agent TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  refreshed_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Sessions whose agents write to each other without end, since no person has said a word.
CREATE TABLE long_talks (
  session_id TEXT PRIMARY KEY,
  low TEXT NOT NULL,
  high TEXT NOT NULL,
  letters INTEGER NOT NULL,
  at INTEGER NOT NULL,
  held_at INTEGER,
  question_id TEXT
) WITHOUT ROWID;
CREATE INDEX long_talks_low ON long_talks (low);
CREATE INDEX long_talks_high ON long_talks (high);
