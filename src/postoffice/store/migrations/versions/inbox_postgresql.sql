-- The view `inbox` as the newest revision has it, for a place of its own that a backup does not have.
CREATE VIEW "{inbox_schema}".inbox WITH (security_invoker = true) AS
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
  AND (d.state <> 'pending' OR d.expires_at IS NULL OR d.expires_at > "{schema}".office_now());
CREATE TRIGGER inbox_check INSTEAD OF INSERT ON "{inbox_schema}".inbox FOR EACH ROW EXECUTE FUNCTION "{schema}".inbox_check();
CREATE TRIGGER inbox_send INSTEAD OF INSERT ON "{inbox_schema}".inbox FOR EACH ROW EXECUTE FUNCTION "{schema}".inbox_send();
CREATE TRIGGER inbox_settle INSTEAD OF UPDATE ON "{inbox_schema}".inbox FOR EACH ROW EXECUTE FUNCTION "{schema}".inbox_settle();
CREATE TRIGGER inbox_told INSTEAD OF UPDATE ON "{inbox_schema}".inbox FOR EACH ROW EXECUTE FUNCTION "{schema}".inbox_told();
