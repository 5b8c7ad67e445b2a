-- Addresses of the owner's that are told of events. `place` is how far each has been told of the log.
CREATE TABLE webhooks (
  name text COLLATE "C" PRIMARY KEY,
  id text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  secrets text COLLATE "C" NOT NULL,
  kinds text COLLATE "C" NOT NULL,
  agents text COLLATE "C" NOT NULL,
  shape text COLLATE "C" NOT NULL,
  bodies bigint NOT NULL,
  state text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  error text COLLATE "C",
  place text COLLATE "C" NOT NULL,
  counted bigint NOT NULL,
  created_at bigint NOT NULL,
  delivered_at bigint
);

-- Events on their way. Of one line, a session or an agent, only the first waiting is sent.
CREATE TABLE webhook_posts (
  webhook text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  line text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  attempts bigint NOT NULL,
  due_at bigint NOT NULL,
  created_at bigint NOT NULL,
  error text COLLATE "C",
  PRIMARY KEY (webhook, number)
);
CREATE INDEX webhook_posts_line ON webhook_posts (webhook, state, line, number);
