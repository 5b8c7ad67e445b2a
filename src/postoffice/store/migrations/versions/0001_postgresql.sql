-- The first schema, for PostgreSQL: the same tables as SQLite's, with the types, clock and view that only a server has.

-- The store's clock. Everything that compares times asks this one function, so that a test can own it.
CREATE FUNCTION office_now() RETURNS bigint LANGUAGE sql VOLATILE
  AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- The id that a text could be, or nothing: senders' ids are compared as text and may look like anything.
CREATE FUNCTION office_id(given text) RETURNS uuid LANGUAGE sql IMMUTABLE
  AS $$ SELECT CASE WHEN given ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN given::uuid END $$;

CREATE FUNCTION office_time(micros bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE
  AS $$ SELECT 'epoch'::timestamptz + micros * interval '1 microsecond' $$;

-- Subjects are equal without regard to case in every language, where the server can tell without the database's locale.
DO $$ BEGIN
  IF EXISTS (SELECT 1 FROM pg_collation WHERE collname = 'pg_c_utf8') THEN
    CREATE FUNCTION office_fold(given text) RETURNS text LANGUAGE sql IMMUTABLE
      AS 'SELECT lower(trim(given) COLLATE pg_catalog.pg_c_utf8)';
  ELSE
    CREATE FUNCTION office_fold(given text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower(trim(given))';
  END IF;
END $$;

CREATE TABLE about (name text PRIMARY KEY, value text NOT NULL);
INSERT INTO about VALUES ('oldest_program', '1');

CREATE TABLE agents (
  agent text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  id uuid NOT NULL UNIQUE,
  card text NOT NULL,
  has_key boolean NOT NULL DEFAULT false,
  acted boolean NOT NULL DEFAULT false,
  created_at bigint NOT NULL,
  last_seen bigint
);

-- Every send and settle updates these rows in place: leave room on the page so that no index has to follow.
CREATE TABLE mailboxes (
  agent text COLLATE "C" PRIMARY KEY,
  counted bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0,
  pending bigint NOT NULL DEFAULT 0,
  leased bigint NOT NULL DEFAULT 0,
  dead bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

INSERT INTO agents (agent, name, id, card, acted, created_at) VALUES
  ('system', 'system', '00000000-0000-7000-8000-000000000001', '{}', true, 0),
  ('owner', 'owner', '00000000-0000-7000-8000-000000000002', '{"allow_from":["*"]}', true, 0);
INSERT INTO mailboxes (agent) VALUES ('system'), ('owner');

CREATE TABLE keys (
  hash text PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  prefix text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint
);
CREATE INDEX keys_agent ON keys (agent, created_at);

CREATE TABLE connections (
  id uuid PRIMARY KEY,
  requester text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  status text NOT NULL,
  code text NOT NULL,
  note text,
  assurance text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE UNIQUE INDEX connections_code ON connections (code) WHERE status = 'PENDING';
CREATE UNIQUE INDEX connections_pending ON connections (requester, target) WHERE status = 'PENDING';
CREATE INDEX connections_expiring ON connections (expires_at) WHERE status = 'PENDING';
CREATE INDEX connections_requester ON connections (requester, id);
CREATE INDEX connections_target ON connections (target, id);

CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  low text COLLATE "C" NOT NULL,
  high text COLLATE "C" NOT NULL,
  subject text NOT NULL,
  subject_key text NOT NULL,
  counted bigint NOT NULL,
  unread_low bigint NOT NULL,
  unread_high bigint NOT NULL,
  replies_left bigint NOT NULL,
  created_at bigint NOT NULL,
  last_at bigint NOT NULL,
  UNIQUE (low, high, subject_key)
) WITH (fillfactor = 70);
CREATE INDEX sessions_low ON sessions (low, last_at, id);
CREATE INDEX sessions_high ON sessions (high, last_at, id);

CREATE TABLE messages (
  id uuid PRIMARY KEY,
  sender text COLLATE "C" NOT NULL,
  client_id text,
  type text NOT NULL,
  ref_id text,
  created_at bigint NOT NULL,
  body json NOT NULL
);
CREATE INDEX messages_client_id ON messages (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX messages_ref ON messages (ref_id, id) WHERE ref_id IS NOT NULL;
CREATE INDEX messages_sender ON messages (sender, created_at DESC);

CREATE TABLE deliveries (
  id uuid PRIMARY KEY,
  message_id uuid NOT NULL,
  mailbox text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  priority bigint NOT NULL,
  state text NOT NULL,
  sender text COLLATE "C" NOT NULL,
  type text NOT NULL,
  session_id uuid,
  session_number bigint,
  correlation_id text,
  attempts bigint NOT NULL DEFAULT 0,
  token text,
  tokenless boolean NOT NULL DEFAULT false,
  due_at bigint,
  created_at bigint NOT NULL,
  leased_at bigint,
  settled_at bigint,
  reason text
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX deliveries_message ON deliveries (message_id, mailbox);
CREATE INDEX deliveries_session ON deliveries (session_id, session_number) WHERE session_id IS NOT NULL;
-- What waits, in the order it is given out. Only waiting rows are in it, so neither backlog nor leases slow it down.
CREATE INDEX deliveries_waiting ON deliveries (mailbox, priority, number) WHERE state = 'pending';
CREATE INDEX deliveries_thread ON deliveries (session_id, mailbox, priority, number) WHERE state = 'pending' AND session_id IS NOT NULL;
-- Whether a session has something in hand.
CREATE INDEX deliveries_in_hand ON deliveries (session_id, mailbox) WHERE state = 'leased' AND session_id IS NOT NULL;
CREATE INDEX deliveries_correlated ON deliveries (mailbox, correlation_id, priority, number)
  WHERE state = 'pending' AND correlation_id IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (mailbox) WHERE state = 'held';
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_dead ON deliveries (mailbox, number) WHERE state = 'dead';

CREATE TABLE tasks (
  message_id uuid PRIMARY KEY,
  id text NOT NULL,
  requester text COLLATE "C" NOT NULL,
  assignee text COLLATE "C" NOT NULL,
  state text NOT NULL,
  subject text NOT NULL,
  session_id uuid,
  deadline bigint,
  overdue boolean NOT NULL DEFAULT false,
  callback text,
  steps text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX tasks_id ON tasks (id);
CREATE INDEX tasks_assignee ON tasks (assignee, message_id);
CREATE INDEX tasks_requester ON tasks (requester, message_id);
CREATE INDEX tasks_under_way ON tasks (assignee) WHERE state IN ('accepted', 'working');
CREATE INDEX tasks_deadline ON tasks (deadline)
  WHERE deadline IS NOT NULL AND NOT overdue AND state IN ('pending', 'accepted', 'working');

CREATE TABLE entities (
  id text COLLATE "C" PRIMARY KEY,
  type text NOT NULL,
  notes bigint NOT NULL,
  created_at bigint NOT NULL,
  last_at bigint NOT NULL
);

-- `tx` makes the whole log readable in order: numbers are given before a commit, so a reader of all mailboxes
-- only takes what transactions older than every running one have written.
CREATE TABLE events (
  n bigint GENERATED ALWAYS AS IDENTITY,
  tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
  mailbox text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  kind text NOT NULL,
  ref text NOT NULL,
  data text NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (mailbox, number)
);
CREATE INDEX events_all ON events (tx, n);

CREATE TABLE dedupe (
  sender text COLLATE "C" NOT NULL,
  addressee text NOT NULL,
  client_id text NOT NULL,
  fingerprint bytea NOT NULL,
  answer text NOT NULL,
  at bigint NOT NULL
);
-- A list of recipients can be longer than an index entry.
CREATE UNIQUE INDEX dedupe_key ON dedupe (sender, client_id, md5(addressee));
CREATE INDEX dedupe_at ON dedupe (at);

CREATE TABLE tombstones (message_id uuid PRIMARY KEY, sender text COLLATE "C" NOT NULL, purged_at bigint NOT NULL);
CREATE TABLE limits (bucket text COLLATE "C" PRIMARY KEY, begun_at bigint NOT NULL, count bigint NOT NULL);
CREATE TABLE roles (role text PRIMARY KEY, holder text NOT NULL, until bigint NOT NULL);
CREATE TABLE cursors (name text PRIMARY KEY, value text NOT NULL);

-- Filled behind the senders' backs, from the log of events: searching costs sending nothing.
CREATE TABLE search (
  message_id uuid PRIMARY KEY,
  text text NOT NULL,
  -- Words only: left to itself the parser keeps addresses, paths and versions as one word, which nobody types whole.
  words tsvector GENERATED ALWAYS AS (to_tsvector('simple', regexp_replace(text, '[!-/:-@[-`{-~]+', ' ', 'g'))) STORED
);
CREATE INDEX search_words ON search USING gin (words);

-- The inbox as a table: what waits or waited for whom, for programs that only speak SQL.
CREATE VIEW "{inbox_schema}".inbox WITH (security_invoker = true) AS
SELECT d.id,
       d.mailbox AS to_agent,
       d.sender AS from_agent,
       d.type AS message_type,
       coalesce(m.body ->> 'subject', '') AS subject,
       (m.body -> 'payload')::jsonb AS payload,
       (m.body -> 'context')::jsonb AS context,
       m.ref_id,
       m.body ->> 'ref_type' AS ref_type,
       d.priority::int AS priority,
       d.state = 'acked' AS processed,
       CASE WHEN d.state = 'acked' THEN office_time(d.settled_at) END AS processed_at,
       office_id(d.token) AS processed_by_session,
       office_time(d.created_at) AS created_at
FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.state <> 'dead';

-- Marking a row processed is the same settle as the office's: locks in its order, every count kept, the sender told.
CREATE FUNCTION inbox_settle() RETURNS trigger LANGUAGE plpgsql SET search_path = "{schema}" AS $$
DECLARE
  mail deliveries%ROWTYPE;
  taken bigint;
BEGIN
  IF (NEW.id, NEW.to_agent, NEW.from_agent, NEW.message_type, NEW.subject, NEW.payload, NEW.context, NEW.ref_id, NEW.ref_type, NEW.priority, NEW.created_at)
     IS DISTINCT FROM
     (OLD.id, OLD.to_agent, OLD.from_agent, OLD.message_type, OLD.subject, OLD.payload, OLD.context, OLD.ref_id, OLD.ref_type, OLD.priority, OLD.created_at) THEN
    RAISE EXCEPTION 'a message never changes; only processed and processed_by_session can be updated' USING ERRCODE = 'check_violation';
  END IF;
  SELECT * INTO mail FROM deliveries WHERE id = OLD.id FOR UPDATE;
  IF NOT FOUND OR NOT coalesce(NEW.processed, false) THEN
    IF mail.state = 'acked' THEN
      RAISE EXCEPTION 'a processed message stays processed' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF mail.state = 'acked' THEN
    RETURN NEW;
  END IF;
  IF mail.state <> 'pending' THEN
    RAISE EXCEPTION 'the message is %, only a pending one can be marked processed here', mail.state USING ERRCODE = 'object_in_use';
  END IF;
  PERFORM 1 FROM mailboxes WHERE agent IN (mail.mailbox, mail.sender) ORDER BY agent FOR UPDATE;
  UPDATE deliveries
     SET state = 'acked', settled_at = office_now(), leased_at = coalesce(leased_at, office_now()), attempts = attempts + 1,
         token = coalesce(NEW.processed_by_session::text, token), tokenless = false, due_at = NULL
   WHERE id = mail.id;
  UPDATE mailboxes SET pending = pending - 1 WHERE agent = mail.mailbox;
  UPDATE sessions
     SET unread_low = unread_low - (low = mail.mailbox)::int, unread_high = unread_high - (high = mail.mailbox)::int
   WHERE id = mail.session_id;
  IF mail.sender NOT IN ('system', mail.mailbox) THEN
    UPDATE mailboxes SET counted = counted + 1 WHERE agent = mail.sender RETURNING counted INTO taken;
    INSERT INTO events (mailbox, number, kind, ref, data, at)
    SELECT mail.sender, taken, 'receipt', mail.message_id, json_build_object('by', a.name)::text, office_now() FROM agents a WHERE a.agent = mail.mailbox;
  END IF;
  PERFORM pg_notify('{schema}', mail.sender);
  RETURN NEW;
END $$;

-- Inserting is mail from the office itself: no admission, no depth, never anybody else's name.
CREATE FUNCTION inbox_send() RETURNS trigger LANGUAGE plpgsql SET search_path = "{schema}" AS $$
DECLARE
  message uuid := coalesce(NEW.id, gen_random_uuid());
  recipients text[];
  recipient text;
  low_name text;
  high_name text;
  taken bigint;
  thread sessions%ROWTYPE;
BEGIN
  IF coalesce(NEW.from_agent, 'system') <> 'system' THEN
    RAISE EXCEPTION 'mail inserted here is from system; % sends through a door of its own', NEW.from_agent USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF coalesce(NEW.priority, 3) NOT BETWEEN 1 AND 5 OR NEW.to_agent IS NULL OR NEW.message_type IS NULL OR NEW.subject IS NULL THEN
    RAISE EXCEPTION 'to_agent, message_type and subject are needed, and priority is 1 to 5' USING ERRCODE = 'check_violation';
  END IF;
  SELECT array_agg(agent ORDER BY agent) INTO recipients FROM agents
   WHERE agent NOT IN ('system', 'owner') AND (NEW.to_agent = 'ALL' OR agent = lower(NEW.to_agent));
  IF recipients IS NULL AND NEW.to_agent <> 'ALL' THEN
    RAISE EXCEPTION 'there is no agent %', NEW.to_agent USING ERRCODE = 'foreign_key_violation';
  END IF;
  PERFORM 1 FROM mailboxes WHERE agent = ANY (recipients) ORDER BY agent FOR UPDATE;
  INSERT INTO messages (id, sender, type, ref_id, created_at, body)
  SELECT message, 'system', NEW.message_type, NEW.ref_id, office_now(), json_object_agg(field, value)
  FROM json_each(json_build_object(
    'id', message, 'from', 'system', 'to', coalesce((SELECT name FROM agents WHERE agent = lower(NEW.to_agent)), NEW.to_agent), 'created_at', to_char(office_time(office_now()) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'from_verified', true, 'type', NEW.message_type, 'subject', NEW.subject, 'priority', coalesce(NEW.priority, 3),
    'payload', coalesce(NEW.payload, '{}'::jsonb), 'context', NEW.context, 'ref_id', NEW.ref_id, 'ref_type', NEW.ref_type, 'trace', json_build_array('system'))) AS fields (field, value)
  WHERE field = 'payload' OR (field = 'context' AND NEW.context IS NOT NULL) OR json_typeof(value) <> 'null'; -- what was not given is left out
  FOREACH recipient IN ARRAY coalesce(recipients, '{}') LOOP
    low_name := least(recipient COLLATE "C", 'system');
    high_name := greatest(recipient COLLATE "C", 'system');
    INSERT INTO sessions (id, low, high, subject, subject_key, counted, unread_low, unread_high, replies_left, created_at, last_at)
    VALUES (gen_random_uuid(), low_name, high_name, NEW.subject, office_fold(NEW.subject), 1,
            (low_name = recipient)::int, (high_name = recipient)::int, 100, office_now(), office_now())
    ON CONFLICT (low, high, subject_key) DO UPDATE
      SET counted = sessions.counted + 1, unread_low = sessions.unread_low + excluded.unread_low,
          unread_high = sessions.unread_high + excluded.unread_high, last_at = excluded.last_at
    RETURNING * INTO thread;
    UPDATE mailboxes SET counted = counted + 1, pending = pending + 1 WHERE agent = recipient RETURNING counted INTO taken;
    INSERT INTO deliveries (id, message_id, mailbox, number, priority, state, sender, type, session_id, session_number, created_at)
    VALUES (CASE WHEN NEW.to_agent = 'ALL' THEN gen_random_uuid() ELSE message END, message, recipient, taken,
            coalesce(NEW.priority, 3), 'pending', 'system', NEW.message_type, thread.id, thread.counted, office_now());
    INSERT INTO events (mailbox, number, kind, ref, data, at) VALUES (recipient, taken, 'new_message', message, '{}', office_now());
    PERFORM pg_notify('{schema}', recipient);
  END LOOP;
  NEW.id := message;
  RETURN NEW;
END $$;

CREATE TRIGGER inbox_settle INSTEAD OF UPDATE ON "{inbox_schema}".inbox FOR EACH ROW EXECUTE FUNCTION inbox_settle();
CREATE TRIGGER inbox_send INSTEAD OF INSERT ON "{inbox_schema}".inbox FOR EACH ROW EXECUTE FUNCTION inbox_send();
