-- Upkeep: duties, limits, cursors, and what is forgotten, on SQLite.

-- name: limits
SELECT bucket, begun_at, count FROM limits WHERE bucket = ?1;

-- name: duty
SELECT holder, until FROM duties WHERE duty = ?1;

-- name: put_limit
INSERT INTO limits (bucket, begun_at, count) VALUES (?1, ?2, ?3)
ON CONFLICT (bucket) DO UPDATE SET begun_at = excluded.begun_at, count = excluded.count;

-- name: put_duty
INSERT INTO duties (duty, holder, until) VALUES (?1, ?2, ?3)
ON CONFLICT (duty) DO UPDATE SET holder = excluded.holder, until = excluded.until;

-- name: put_cursor
INSERT INTO cursors (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: add_tombstone
INSERT INTO tombstones (message_id, sender, purged_at) VALUES (?1, ?2, ?3);

-- name: delete_deliveries
DELETE FROM deliveries WHERE message_id = ?1;

-- name: delete_task
DELETE FROM tasks WHERE message_id = ?1;

-- name: delete_message
DELETE FROM messages WHERE id = ?1;

-- name: forget_dedupe
DELETE FROM dedupe WHERE sender = ?1 AND addressee = ?2 AND client_id = ?3 AND at = ?4;

-- name: forget_limits
DELETE FROM limits WHERE begun_at < ?1;

-- name: forget_event
DELETE FROM events WHERE mailbox = ?1 AND n = ?2;

-- name: old_events
-- Where the log begins: to look for old news everywhere would take as long as the log is. The newest stays, so that its numbers never start again.
-- So does what is not indexed yet: the index is made from it.
SELECT mailbox, n FROM (SELECT n, mailbox, at FROM events ORDER BY n LIMIT :limit) AS first
WHERE at < office_now() - :age AND n < (SELECT max(n) FROM events) AND n <= {searched};

-- name: cursor
SELECT value FROM cursors WHERE name = ?1;

-- name: sender_of
SELECT sender FROM messages WHERE id = ?1;
