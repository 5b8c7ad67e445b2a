-- What people were asked, and what became of it. What is asked stands in the message.
CREATE TABLE questions (
  message_id uuid PRIMARY KEY,
  asker text COLLATE "C" NOT NULL,
  person text COLLATE "C" NOT NULL,
  session_id uuid,
  state text COLLATE "C" NOT NULL,
  deadline bigint,
  created_at bigint NOT NULL,
  answered_by text COLLATE "C",
  choice text COLLATE "C",
  said text COLLATE "C",
  answer_id uuid,
  via text COLLATE "C",
  closed_at bigint
);
CREATE INDEX questions_open ON questions (person, message_id) WHERE state = 'open';
CREATE INDEX questions_person ON questions (person, message_id);
CREATE INDEX questions_asker ON questions (asker, message_id);
CREATE INDEX questions_deadline ON questions (deadline) WHERE state = 'open' AND deadline IS NOT NULL;
