-- Lists. The id of each is that of its session, which all its members read; it outlives the list.
CREATE TABLE lists (
  id uuid PRIMARY KEY,
  list text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  who_may_post text COLLATE "C" NOT NULL,
  who_may_join text COLLATE "C" NOT NULL,
  history boolean NOT NULL,
  posters text COLLATE "C" NOT NULL,
  members bigint NOT NULL,
  counted bigint NOT NULL,
  replies_left bigint NOT NULL,
  created_at bigint NOT NULL,
  last_at bigint,
  ended_at bigint
);
CREATE UNIQUE INDEX lists_name ON lists (list) WHERE ended_at IS NULL;
CREATE INDEX lists_owner ON lists (owner) WHERE ended_at IS NULL;

-- Who is, was or may be on a list; what of it is unread is counted as mail moves.
CREATE TABLE list_members (
  list_id uuid NOT NULL,
  agent text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  added_by text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  floor bigint NOT NULL,
  begins bigint NOT NULL,
  ends bigint,
  unread bigint NOT NULL,
  last_at bigint NOT NULL,
  PRIMARY KEY (list_id, agent)
);
CREATE INDEX list_members_agent ON list_members (agent);

-- What was written to a list, in its one order: a thread is read without going through the deliveries of all members.
CREATE TABLE list_letters (
  list_id uuid NOT NULL,
  number bigint NOT NULL,
  message_id uuid NOT NULL,
  sender text COLLATE "C" NOT NULL,
  canceled boolean NOT NULL,
  PRIMARY KEY (list_id, number)
);
CREATE UNIQUE INDEX list_letters_message ON list_letters (message_id);
