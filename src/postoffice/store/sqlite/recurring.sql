-- Recurring letters, on SQLite.

-- name: recurring_by_id
SELECT {recurring} FROM recurring r WHERE r.id = ?1;

-- name: count_recurring
SELECT count(*) FROM recurring WHERE agent = ?1;

-- name: put_recurring
INSERT INTO recurring (id, agent, verified, every, zone, missed, letter, next_at, created_at, last_at, sent, trouble)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
ON CONFLICT (id) DO UPDATE SET next_at = excluded.next_at, last_at = excluded.last_at, sent = excluded.sent, trouble = excluded.trouble;

-- name: drop_recurring
DELETE FROM recurring WHERE id = ?1;
