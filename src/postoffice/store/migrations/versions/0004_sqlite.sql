-- Where agents are on the ledger. No keys: those are in files or the environment.
CREATE TABLE ledger_accounts (
  agent TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  inbound_topic_id TEXT NOT NULL UNIQUE,
  outbound_topic_id TEXT,
  profile TEXT,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Topics watched besides agents' inbound ones: entities, and connections with agents of other software.
CREATE TABLE ledger_topics (
  topic_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  agent TEXT,
  about TEXT NOT NULL,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- What is to be put on the ledger. Signed bytes are kept before they are submitted: submitted again, they make one message.
CREATE TABLE ledger_outbox (
  id TEXT PRIMARY KEY,
  topic_id TEXT NOT NULL,
  memo TEXT NOT NULL,
  payer TEXT,
  body TEXT NOT NULL,
  message_id TEXT,
  mailbox TEXT,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  signed TEXT,
  error TEXT,
  created_at INTEGER NOT NULL
);
CREATE INDEX ledger_outbox_due ON ledger_outbox (due_at) WHERE state = 'waiting';
CREATE INDEX ledger_outbox_message ON ledger_outbox (message_id) WHERE message_id IS NOT NULL;

-- What was seen on the ledger, and what was made of it. One row for each message there: nothing is taken twice.
CREATE TABLE ledger_records (
  topic_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  payer TEXT NOT NULL,
  at TEXT NOT NULL,
  verdict TEXT NOT NULL,
  message_id TEXT,
  reason TEXT,
  body TEXT,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (topic_id, sequence)
);
CREATE INDEX ledger_records_quarantined ON ledger_records (seen_at) WHERE verdict = 'quarantined';
CREATE INDEX ledger_records_message ON ledger_records (message_id) WHERE message_id IS NOT NULL;
