-- What each agent remembers of letters that came round to it.
CREATE TABLE memories (
  agent text COLLATE "C" PRIMARY KEY,
  body text COLLATE "C" NOT NULL,
  refreshed_at bigint NOT NULL
);

-- Sessions whose agents write to each other without end, since no person has said a word.
CREATE TABLE long_talks (
  session_id uuid PRIMARY KEY,
  low text COLLATE "C" NOT NULL,
  high text COLLATE "C" NOT NULL,
  letters bigint NOT NULL,
  at bigint NOT NULL,
  held_at bigint,
  question_id uuid
);
CREATE INDEX long_talks_low ON long_talks (low);
CREATE INDEX long_talks_high ON long_talks (high);
