-- When a letter comes to its recipient, as long as it has not, and from when on it is not given out any more.
ALTER TABLE deliveries ADD COLUMN deliver_at bigint;
ALTER TABLE deliveries ADD COLUMN expires_at bigint;
CREATE INDEX deliveries_scheduled ON deliveries (deliver_at) WHERE state = 'held' AND deliver_at IS NOT NULL;
CREATE INDEX deliveries_expiring ON deliveries (expires_at) WHERE state IN ('held', 'pending') AND expires_at IS NOT NULL;
-- What ended before its time came: its recipient never hears of it.
CREATE INDEX deliveries_never_came ON deliveries (mailbox) WHERE deliver_at IS NOT NULL AND state <> 'held';

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
    -- Held without a time to try again, or with a time that has not come, is nobody's mail yet; what has expired is nobody's any more.
    WHERE d.state <> 'dead' AND (d.state <> 'held' OR d.due_at IS NOT NULL) AND d.deliver_at IS NULL
      AND (d.state <> 'pending' OR d.expires_at IS NULL OR d.expires_at > "{schema}".office_now())
  $view$, place);
END $$;
