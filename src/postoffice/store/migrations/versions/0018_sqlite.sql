-- What people were asked, and what became of it. What is asked stands in the message.
CREATE TABLE questions (
  message_id TEXT PRIMARY KEY,
  asker TEXT NOT NULL,
  person TEXT NOT NULL,
  session_id TEXT,
  state TEXT NOT NULL,
  deadline INTEGER,
  created_at INTEGER NOT NULL,
  answered_by TEXT,
  choice TEXT,
  said TEXT,
  answer_id TEXT,
  via TEXT,
  closed_at INTEGER
) WITHOUT ROWID;
CREATE INDEX questions_open ON questions (person, message_id) WHERE state = 'open';
CREATE INDEX questions_person ON questions (person, message_id);
CREATE INDEX questions_asker ON questions (asker, message_id);
CREATE INDEX questions_deadline ON questions (deadline) WHERE state = 'open' AND deadline IS NOT NULL;
