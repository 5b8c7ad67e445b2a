-- The log of events, on PostgreSQL.

-- part: news_of_agent
events

-- name: add_event
INSERT INTO events (mailbox, number, kind, ref, data, at)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[]);

-- name: all_events
SELECT mailbox, number, kind, ref, data, at, tx::text || '.' || n FROM events
WHERE (tx, n) > (split_part(:after::text, '.', 1)::xid8, coalesce(nullif(split_part(:after::text, '.', 2), ''), '0')::bigint)
  AND tx < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY tx, n LIMIT :limit;

-- name: last_event
SELECT coalesce((SELECT tx::text || '.' || n FROM events WHERE tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY tx DESC, n DESC LIMIT 1), '0.0');

-- name: look
-- Of what is paused nothing can be taken.
SELECT agent, CASE WHEN paused_at IS NOT NULL AND (paused_until IS NULL OR paused_until > office_now()) THEN 0 ELSE pending END, counted
FROM mailboxes WHERE agent = ANY (:agents::text[]);
