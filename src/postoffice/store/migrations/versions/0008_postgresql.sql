-- What one account pays for on one topic is a line, in which nothing goes before what was put there earlier: the first of each line is found
-- without reading the others. A topic that is yet to be made has a line of its own.
CREATE INDEX IF NOT EXISTS ledger_outbox_lines
  ON ledger_outbox ((CASE topic_id WHEN '' THEN id ELSE topic_id END || ' ' || coalesce(payer, '')), created_at, id) WHERE state = 'waiting';

-- An id that begins with the time, as the office gives them: mail is shown, found and purged in the order of its ids.
CREATE FUNCTION office_new_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(office_now() / 1000) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
                'hex')::uuid
$$;

-- What a door would refuse is refused here too: a note that is about nothing as well.
CREATE OR REPLACE FUNCTION inbox_check() RETURNS trigger LANGUAGE plpgsql SET search_path = "{schema}" AS $$
BEGIN
  IF NEW.message_type IN ('task', 'task_update') THEN
    RAISE EXCEPTION 'a task needs an agent that asks for it: send it through a door' USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.message_type LIKE '%.note' AND coalesce(NEW.ref_id, '') = '' THEN
    RAISE EXCEPTION 'a note names its entity in ref_id' USING ERRCODE = 'check_violation';
  END IF;
  IF length(NEW.message_type) > 255 OR length(NEW.subject) > 255 OR length(NEW.ref_id) > 255 OR length(NEW.ref_type) > 255 THEN
    RAISE EXCEPTION 'message_type, subject, ref_id and ref_type have at most 255 characters' USING ERRCODE = 'check_violation';
  END IF;
  IF coalesce(octet_length(NEW.payload::text), 0) + coalesce(octet_length(NEW.context::text), 0) > 1048576 THEN
    RAISE EXCEPTION 'payload and context are larger than 1 MiB: keep it elsewhere, and tell where' USING ERRCODE = 'check_violation';
  END IF;
  NEW.from_agent := coalesce(NEW.from_agent, 'system');
  NEW.payload := coalesce(NEW.payload, '{}');
  NEW.priority := coalesce(NEW.priority, 3);
  NEW.processed := false;
  NEW.processed_at := NULL;
  NEW.processed_by_session := NULL;
  NEW.created_at := office_time(office_now());
  RETURN NEW;
END $$;

-- A note is kept with its entity, and stands in no session, whoever sends it.
CREATE OR REPLACE FUNCTION inbox_send() RETURNS trigger LANGUAGE plpgsql SET search_path = "{schema}" AS $$
DECLARE
  note boolean := NEW.message_type LIKE '%.note';
  message uuid := coalesce(NEW.id, office_new_id());
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
  -- Entities are nobody's: whoever counts their notes holds the office's own mailbox.
  PERFORM 1 FROM mailboxes WHERE agent = ANY (recipients) OR (note AND agent = 'system') ORDER BY agent FOR UPDATE;
  INSERT INTO messages (id, sender, type, ref_id, created_at, body)
  SELECT message, 'system', NEW.message_type, NEW.ref_id, office_now(), json_object_agg(field, value)
  FROM json_each(json_build_object(
    'id', message, 'from', 'system', 'to', coalesce((SELECT name FROM agents WHERE agent = lower(NEW.to_agent)), NEW.to_agent), 'created_at', to_char(office_time(office_now()) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'from_verified', true, 'type', NEW.message_type, 'subject', NEW.subject, 'priority', coalesce(NEW.priority, 3),
    'payload', coalesce(NEW.payload, '{}'::jsonb), 'context', NEW.context, 'ref_id', NEW.ref_id, 'ref_type', NEW.ref_type, 'trace', json_build_array('system'))) AS fields (field, value)
  WHERE field = 'payload' OR (field = 'context' AND NEW.context IS NOT NULL) OR json_typeof(value) <> 'null'; -- what was not given is left out
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
    UPDATE mailboxes SET counted = counted + 1, pending = pending + 1 WHERE agent = recipient RETURNING counted INTO taken;
    INSERT INTO deliveries (id, message_id, mailbox, number, priority, state, sender, type, session_id, session_number, created_at)
    VALUES (CASE WHEN NEW.to_agent = 'ALL' THEN gen_random_uuid() ELSE message END, message, recipient, taken,
            coalesce(NEW.priority, 3), 'pending', 'system', NEW.message_type, thread.id, thread.counted, office_now());
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
