-- When a person opened what waits for them. It is looked for among what still waits, which is little.
ALTER TABLE deliveries ADD COLUMN seen_at bigint;
CREATE INDEX deliveries_seen ON deliveries (mailbox) WHERE state = 'pending' AND seen_at IS NOT NULL;

-- What was seen is not counted as unread when it is settled by the view.
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
   WHERE id = mail.session_id AND mail.seen_at IS NULL;
  IF mail.sender NOT IN ('system', mail.mailbox) THEN
    UPDATE mailboxes SET counted = counted + 1 WHERE agent = mail.sender RETURNING counted INTO taken;
    INSERT INTO events (mailbox, number, kind, ref, data, at)
    SELECT mail.sender, taken, 'receipt', mail.message_id, json_build_object('by', a.name)::text, office_now() FROM agents a WHERE a.agent = mail.mailbox;
  END IF;
  PERFORM pg_notify('{schema}', mail.sender);
  RETURN NEW;
END $$;
