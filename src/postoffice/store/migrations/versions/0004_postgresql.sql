-- Where agents are on the ledger. No keys: those are in files or the environment.
CREATE TABLE ledger_accounts (
  agent text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  inbound_topic_id text COLLATE "C" NOT NULL UNIQUE,
  outbound_topic_id text COLLATE "C",
  profile text COLLATE "C",
  created_at bigint NOT NULL
);

-- Topics watched besides agents' inbound ones: entities, and connections with agents of other software.
CREATE TABLE ledger_topics (
  topic_id text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  agent text COLLATE "C",
  about text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);

-- What is to be put on the ledger. Signed bytes are kept before they are submitted: submitted again, they make one message.
CREATE TABLE ledger_outbox (
  id text COLLATE "C" PRIMARY KEY,
  topic_id text COLLATE "C" NOT NULL,
  memo text COLLATE "C" NOT NULL,
  payer text COLLATE "C",
  body text COLLATE "C" NOT NULL,
  message_id text COLLATE "C",
  mailbox text COLLATE "C",
  state text COLLATE "C" NOT NULL,
  attempts bigint NOT NULL,
  due_at bigint NOT NULL,
  signed text COLLATE "C",
  error text COLLATE "C",
  created_at bigint NOT NULL
);
CREATE INDEX ledger_outbox_due ON ledger_outbox (due_at) WHERE state = 'waiting';
CREATE INDEX ledger_outbox_message ON ledger_outbox (message_id) WHERE message_id IS NOT NULL;

-- What was seen on the ledger, and what was made of it. One row for each message there: nothing is taken twice.
CREATE TABLE ledger_records (
  topic_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  payer text COLLATE "C" NOT NULL,
  at text COLLATE "C" NOT NULL,
  verdict text COLLATE "C" NOT NULL,
  message_id text COLLATE "C",
  reason text COLLATE "C",
  body text COLLATE "C",
  seen_at bigint NOT NULL,
  PRIMARY KEY (topic_id, sequence)
);
CREATE INDEX ledger_records_quarantined ON ledger_records (seen_at) WHERE verdict = 'quarantined';
CREATE INDEX ledger_records_message ON ledger_records (message_id) WHERE message_id IS NOT NULL;
