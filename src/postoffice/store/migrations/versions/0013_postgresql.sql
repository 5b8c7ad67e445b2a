-- Where an agent's client is open right now: one row for each process, until it ends.
CREATE TABLE windows (
  id uuid PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  session text COLLATE "C",
  process bigint NOT NULL,
  started text COLLATE "C" NOT NULL,
  folder text COLLATE "C" NOT NULL,
  machine text COLLATE "C" NOT NULL,
  ring text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  state_at bigint NOT NULL,
  shared boolean NOT NULL,
  opened_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  until bigint NOT NULL,
  UNIQUE (machine, process, started)
);
CREATE INDEX windows_agent ON windows (agent);

-- Names that windows have had: whether a person chose it, and which machine's it is.
CREATE TABLE window_names (
  agent text COLLATE "C" PRIMARY KEY,
  chosen boolean NOT NULL,
  prefix text COLLATE "C"
);

-- Which name a client's session had, for when it is resumed.
CREATE TABLE window_sessions (
  client text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (client, session)
);

-- Keys by which a machine opens windows, whose agents' names all begin alike.
CREATE TABLE machine_keys (
  hash text COLLATE "C" PRIMARY KEY,
  prefix text COLLATE "C" NOT NULL,
  shown text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  revoked_at bigint
);

-- For what somebody was rung, how often, and what came of it.
CREATE TABLE rings (
  message_id uuid NOT NULL,
  mailbox text COLLATE "C" NOT NULL,
  times bigint NOT NULL,
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  turn_at bigint,
  told_at bigint,
  PRIMARY KEY (message_id, mailbox)
);
CREATE INDEX rings_unturned ON rings (mailbox) WHERE turn_at IS NULL;
