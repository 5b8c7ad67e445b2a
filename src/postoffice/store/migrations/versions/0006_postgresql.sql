-- What a message says, for a table with no column for words: they stand in the payload, beside what the sender put there.
CREATE FUNCTION office_said(body json) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN words = '{}' OR jsonb_typeof(payload) <> 'object' THEN payload ELSE words || coalesce(payload, '{}') END
  FROM (SELECT (body -> 'payload')::jsonb AS payload,
               CASE WHEN body -> 'content' IS NULL THEN '{}' ELSE jsonb_build_object('content', body -> 'content') END
               || CASE WHEN body -> 'parts' IS NULL THEN '{}' ELSE jsonb_build_object('parts', body -> 'parts') END AS words) AS said
$$;

-- What a door would refuse is refused here too, and what was not given gets its default before it is mail.
CREATE FUNCTION inbox_check() RETURNS trigger LANGUAGE plpgsql SET search_path = "{schema}" AS $$
BEGIN
  IF NEW.message_type IN ('task', 'task_update') THEN
    RAISE EXCEPTION 'a task needs an agent that asks for it: send it through a door' USING ERRCODE = 'check_violation';
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

-- An update answers with the row as it is now.
CREATE FUNCTION inbox_told() RETURNS trigger LANGUAGE plpgsql SET search_path = "{schema}" AS $$
BEGIN
  SELECT state = 'acked', CASE WHEN state = 'acked' THEN office_time(settled_at) END, office_id(token)
    INTO NEW.processed, NEW.processed_at, NEW.processed_by_session FROM deliveries WHERE id = NEW.id;
  RETURN NEW;
END $$;

-- The view is wherever it was put; the trigger on it says where.
DO $$
DECLARE
  place text;
BEGIN
  SELECT t.tgrelid::regclass::text INTO place FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
   WHERE t.tgname = 'inbox_settle' AND p.pronamespace = '"{schema}"'::regnamespace;
  IF place IS NULL THEN
    RETURN; -- somebody took it away
  END IF;
  EXECUTE format($view$
    CREATE OR REPLACE VIEW %s WITH (security_invoker = true) AS
    SELECT d.id,
           d.mailbox AS to_agent,
           m.sender AS from_agent,
           d.type AS message_type,
           coalesce(m.body ->> 'subject', '') AS subject,
           "{schema}".office_said(m.body) AS payload,
           (m.body -> 'context')::jsonb AS context,
           m.ref_id,
           m.body ->> 'ref_type' AS ref_type,
           d.priority::int AS priority,
           d.state = 'acked' AS processed,
           CASE WHEN d.state = 'acked' THEN "{schema}".office_time(d.settled_at) END AS processed_at,
           "{schema}".office_id(d.token) AS processed_by_session,
           "{schema}".office_time(d.created_at) AS created_at
    FROM "{schema}".deliveries d JOIN "{schema}".messages m ON m.id = d.message_id
    -- Held without a time to try again is held for the ledger: it is nobody's mail before it was seen there.
    WHERE d.state <> 'dead' AND (d.state <> 'held' OR d.due_at IS NOT NULL)
  $view$, place);
  -- Triggers fire in the order of their names, each with the row that the one before gave.
  EXECUTE format('CREATE TRIGGER inbox_check INSTEAD OF INSERT ON %s FOR EACH ROW EXECUTE FUNCTION "{schema}".inbox_check()', place);
  EXECUTE format('CREATE TRIGGER inbox_told INSTEAD OF UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION "{schema}".inbox_told()', place);
END $$;
