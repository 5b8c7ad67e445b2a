-- How many bytes wait in a mailbox is counted with every letter that comes and goes. Of what is done with nobody asks any more.
ALTER TABLE deliveries ADD COLUMN size bigint NOT NULL DEFAULT 0;
ALTER TABLE mailboxes ADD COLUMN waiting_bytes bigint NOT NULL DEFAULT 0;
UPDATE deliveries d SET size = octet_length(m.body::text) FROM messages m WHERE m.id = d.message_id AND d.state <> 'acked';
UPDATE mailboxes b SET waiting_bytes = w.bytes
FROM (SELECT mailbox, sum(size) AS bytes FROM deliveries WHERE state IN ('held', 'pending', 'leased') GROUP BY mailbox) AS w WHERE b.agent = w.mailbox;

-- What comes and goes by the view is counted too.
CREATE OR REPLACE FUNCTION inbox_settle() RETURNS trigger LANGUAGE plpgsql SET search_path = "{schema}" AS $$
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
  UPDATE mailboxes SET pending = pending - 1, waiting_bytes = waiting_bytes - mail.size WHERE agent = mail.mailbox;
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

CREATE OR REPLACE FUNCTION inbox_send() RETURNS trigger LANGUAGE plpgsql SET search_path = "{schema}" AS $$
DECLARE
  note boolean := NEW.message_type LIKE '%.note';
  message uuid := coalesce(NEW.id, office_new_id());
  recipients text[];
  recipient text;
  low_name text;
  high_name text;
  taken bigint;
  bytes bigint;
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
  -- Entities are nobody's: whoever counts their notes holds the office's own mailbox.
  PERFORM 1 FROM mailboxes WHERE agent = ANY (recipients) OR (note AND agent = 'system') ORDER BY agent FOR UPDATE;
  INSERT INTO messages (id, sender, type, ref_id, created_at, body)
  SELECT message, 'system', NEW.message_type, NEW.ref_id, office_now(), json_object_agg(field, value)
  FROM json_each(json_build_object(
    'id', message, 'from', 'system', 'to', coalesce((SELECT name FROM agents WHERE agent = lower(NEW.to_agent)), NEW.to_agent), 'created_at', to_char(office_time(office_now()) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'from_verified', true, 'type', NEW.message_type, 'subject', NEW.subject, 'priority', coalesce(NEW.priority, 3),
    'payload', coalesce(NEW.payload, '{}'::jsonb), 'context', NEW.context, 'ref_id', NEW.ref_id, 'ref_type', NEW.ref_type, 'trace', json_build_array('system'))) AS fields (field, value)
  WHERE field = 'payload' OR (field = 'context' AND NEW.context IS NOT NULL) OR json_typeof(value) <> 'null' -- what was not given is left out
  RETURNING octet_length(body::text) INTO bytes;
  FOREACH recipient IN ARRAY coalesce(recipients, '{}') LOOP
    IF NOT note THEN
      low_name := least(recipient COLLATE "C", 'system');
      high_name := greatest(recipient COLLATE "C", 'system');
      INSERT INTO sessions (id, low, high, subject, subject_key, counted, unread_low, unread_high, replies_left, created_at, last_at)
      VALUES (gen_random_uuid(), low_name, high_name, NEW.subject, office_fold(NEW.subject), 1,
              (low_name = recipient)::int, (high_name = recipient)::int, 100, office_now(), office_now())
      ON CONFLICT (low, high, subject_key) DO UPDATE
        SET counted = sessions.counted + 1, unread_low = sessions.unread_low + excluded.unread_low,
            unread_high = sessions.unread_high + excluded.unread_high, last_at = excluded.last_at
      RETURNING * INTO thread;
    END IF;
    UPDATE mailboxes SET counted = counted + 1, pending = pending + 1, waiting_bytes = waiting_bytes + bytes WHERE agent = recipient RETURNING counted INTO taken;
    INSERT INTO deliveries (id, message_id, mailbox, number, priority, state, sender, type, session_id, session_number, created_at, size)
    VALUES (CASE WHEN NEW.to_agent = 'ALL' THEN gen_random_uuid() ELSE message END, message, recipient, taken,
            coalesce(NEW.priority, 3), 'pending', 'system', NEW.message_type, thread.id, thread.counted, office_now(), bytes);
    INSERT INTO events (mailbox, number, kind, ref, data, at) VALUES (recipient, taken, 'new_message', message, '{}', office_now());
    PERFORM pg_notify('{schema}', recipient);
  END LOOP;
  IF note THEN
    INSERT INTO entities (id, type, notes, created_at, last_at) VALUES (NEW.ref_id, coalesce(NEW.ref_type, ''), 1, office_now(), office_now())
    ON CONFLICT (id) DO UPDATE SET notes = entities.notes + 1, last_at = excluded.last_at;
    UPDATE mailboxes SET counted = counted + 1 WHERE agent = 'system' RETURNING counted INTO taken;
    INSERT INTO events (mailbox, number, kind, ref, data, at)
    VALUES ('system', taken, 'note', message, json_build_object('entity', NEW.ref_id)::text, office_now());
  END IF;
  NEW.id := message;
  RETURN NEW;
END $$;
