-- Sessions and their lines, on SQLite.

-- part: lines_of_shown
SELECT d.session_id, NULL, NULL, NULL, NULL, NULL, NULL, d.mailbox, d.state, d.session_number, d.seen_at, m.body
FROM shown t CROSS JOIN deliveries d ON d.session_id = t.id AND d.session_number > t.counted - :lines AND d.filed = 1
CROSS JOIN messages m ON m.id = d.message_id WHERE {let_through} OR d.mailbox <> :agent
UNION ALL
SELECT d.session_id, NULL, NULL, NULL, NULL, NULL, NULL, d.mailbox, d.state, d.session_number, d.seen_at, m.body
FROM deliveries d CROSS JOIN shown t ON d.session_id = t.id AND d.session_number > t.counted - :lines
CROSS JOIN messages m ON m.id = d.message_id WHERE d.id > {filed_mail} AND d.filed = 0 AND ({let_through} OR d.mailbox <> :agent)

-- name: lines
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.id IN (
  SELECT id FROM (SELECT d.id FROM deliveries d WHERE d.session_id = ?1 AND d.session_number < ?2 AND d.filed = 1 AND {readable} ORDER BY d.session_number DESC LIMIT ?3)
  UNION ALL SELECT d.id FROM deliveries d WHERE d.id > {filed_mail} AND d.filed = 0 AND d.session_id = ?1 AND d.session_number < ?2 AND {readable})
ORDER BY d.session_number DESC LIMIT ?3;

-- name: count_gap
UPDATE sessions SET gaps = gaps + 1 WHERE id = ?1;

-- name: held_in
-- Of a session and one of its agents: how much is held, how much of it since it was sent, and when that agent was last told something.
SELECT coalesce(sum(held), 0), coalesce(sum(hidden), 0), (
  SELECT max(created_at) FROM (
    SELECT created_at FROM (SELECT d.created_at FROM deliveries d WHERE d.session_id = ?1 AND d.filed = 1 AND ({let_through} OR d.mailbox <> ?2)
                            ORDER BY d.session_number DESC LIMIT 1)
    UNION ALL SELECT d.created_at FROM deliveries d
    WHERE d.id > {filed_mail} AND d.filed = 0 AND d.session_id = ?1 AND ({let_through} OR d.mailbox <> ?2)))
FROM (
  SELECT 1 AS held, CASE WHEN due_at IS NULL THEN 1 ELSE 0 END AS hidden FROM deliveries WHERE mailbox = ?2 AND state = 'held' AND session_id = ?1
  UNION ALL SELECT 0, 1 FROM deliveries WHERE mailbox = ?2 AND deliver_at IS NOT NULL AND state <> 'held' AND session_id = ?1) AS kept;

-- name: sessions_by_id
SELECT {session}
FROM sessions WHERE id = ?1;

-- name: sessions_by_key
SELECT {session}
FROM sessions WHERE low = ?1 AND high = ?2 AND subject_key = ?3;

-- name: add_session
INSERT INTO sessions (id, low, high, subject, subject_key, counted, unread_low, unread_high, replies_left, created_at, last_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- name: update_session
UPDATE sessions SET counted = ?2, unread_low = ?3, unread_high = ?4, replies_left = ?5, last_at = ?6
WHERE id = ?1;

-- name: update_unread
UPDATE sessions SET unread_low = ?2, unread_high = ?3 WHERE id = ?1;
