-- Upkeep: duties, limits, cursors, and what is forgotten, on PostgreSQL.

-- name: limits
SELECT bucket, begun_at, count FROM limits WHERE bucket = ANY ($1::text[]) ORDER BY bucket FOR UPDATE;

-- name: duty
SELECT holder, until FROM duties WHERE duty = ANY ($1::text[]);

-- name: put_limit
INSERT INTO limits (bucket, begun_at, count) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
ON CONFLICT (bucket) DO UPDATE SET begun_at = excluded.begun_at, count = excluded.count;

-- name: put_duty
INSERT INTO duties (duty, holder, until) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
ON CONFLICT (duty) DO UPDATE SET holder = excluded.holder, until = excluded.until;

-- name: put_cursor
INSERT INTO cursors (name, value) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: add_tombstone
INSERT INTO tombstones (message_id, sender, purged_at) SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[]);

-- name: delete_deliveries
DELETE FROM deliveries WHERE message_id = ANY ($1::uuid[]);

-- name: delete_task
DELETE FROM tasks WHERE message_id = ANY ($1::uuid[]);

-- name: delete_message
DELETE FROM messages WHERE id = ANY ($1::uuid[]);

-- name: forget_dedupe
DELETE FROM dedupe d USING unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS k (sender, addressee, client_id, at)
WHERE d.sender = k.sender AND d.client_id = k.client_id AND md5(d.addressee) = md5(k.addressee) AND d.at = k.at;

-- name: forget_limits
DELETE FROM limits WHERE begun_at < ANY ($1::bigint[]);

-- name: forget_event
DELETE FROM events e USING unnest($1::text[], $2::bigint[]) AS k (mailbox, number) WHERE e.mailbox = k.mailbox AND e.number = k.number;

-- name: old_events
-- Where the log begins: to look for old news everywhere would take as long as the log is. The newest stays, to tell where the log stands.
-- So does what is not indexed yet: the index is made from it.
SELECT mailbox, number FROM (SELECT tx, n, mailbox, number, at FROM events ORDER BY tx, n LIMIT :limit) AS first
WHERE at < office_now() - :age AND (tx, n) < (SELECT tx, n FROM events ORDER BY tx DESC, n DESC LIMIT 1)
  AND (tx, n) <= (SELECT {searched});

-- name: cursor
SELECT value FROM cursors WHERE name = ANY ($1::text[]);

-- name: sender_of
SELECT sender FROM messages WHERE id = ANY ($1::uuid[]);
