-- What programs that poll the view ask for: what is not processed yet, for one agent, oldest first.
CREATE INDEX deliveries_unprocessed ON deliveries (mailbox, created_at) WHERE state <> 'acked' AND state <> 'dead';

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
           (m.body -> 'payload')::jsonb AS payload,
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
END $$;
