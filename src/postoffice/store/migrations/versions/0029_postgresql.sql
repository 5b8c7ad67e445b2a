-- How a person's address is told; a webhook has nothing there.
ALTER TABLE webhooks ADD COLUMN notify text COLLATE "C";

-- Links by which one question is answered. Of each the hash is kept.
CREATE TABLE answer_links (
  hash text COLLATE "C" PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  question text COLLATE "C" NOT NULL,
  webhook text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX answer_links_end ON answer_links (expires_at);
