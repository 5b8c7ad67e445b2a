-- Messages and deliveries, on SQLite. One writer holds the file, so nothing here takes locks.
--
-- A mailbox's news and a session's lines are put into their indexes some hundred rows at a time ("filed"). One by one, nearly each would
-- change a page of its own, and those were more than half of what a commit had to write. What is not filed yet is read from the end of its table.

-- part: filed_mail
(SELECT CAST(value AS INTEGER) FROM cursors WHERE name = 'filed_mail')

-- name: file_mail
UPDATE deliveries SET filed = 1 WHERE id > {filed_mail} AND filed = 0;

-- name: last_delivery_id
-- None is given again, though the last were purged: it would pass for filed.
SELECT max(coalesce((SELECT max(id) FROM deliveries), 0), {filed_mail});

-- name: mail
SELECT {bare_delivery} FROM deliveries d WHERE d.message_id = ?1 AND d.mailbox = ?2;

-- name: mail_and_bodies
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id WHERE d.message_id = ?1 AND d.mailbox = ?2;

-- name: mail_by_client_id
SELECT {delivery} FROM messages m JOIN deliveries d ON d.message_id = m.id
WHERE m.client_id = ?1 AND d.mailbox = ?2;

-- name: sent_mail
-- Where a message stands with one of those it went to, for its sender: its mark and its session.
SELECT {session_of_sent} FROM messages m LEFT JOIN deliveries d ON d.message_id = m.id AND d.mailbox = ?3 LEFT JOIN sessions s ON s.id = d.session_id
WHERE m.id = ?1 AND m.sender = ?2;

-- name: sent_mail_by_client_id
SELECT {session_of_sent} FROM messages m LEFT JOIN deliveries d ON d.message_id = m.id AND d.mailbox = ?3 LEFT JOIN sessions s ON s.id = d.session_id
WHERE m.client_id = ?1 AND m.sender = ?2 ORDER BY d.id IS NULL LIMIT 2;

-- name: has_got
SELECT 1 FROM deliveries WHERE message_id = ?1 AND mailbox = ?2;

-- name: ids_ending
{mine} WHERE substr(n.message_id, -4) IN (SELECT value FROM json_each(:endings));

-- name: unfinished_ids_ending
SELECT n.message_id FROM ({unfinished}) AS n
WHERE n.message_id < :before AND substr(n.message_id, -4) IN (SELECT value FROM json_each(:endings));

-- name: put_await
INSERT INTO awaits (id, agent, other, until) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, other = excluded.other, until = excluded.until;

-- name: drop_await
-- With it whatever has outlived its time: its process died.
DELETE FROM awaits WHERE id = ?1 OR until < office_now();

-- name: due
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.due_at <= office_now()
ORDER BY d.due_at LIMIT ?1;

-- name: come_due
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.state = 'held' AND d.deliver_at <= office_now()
ORDER BY d.deliver_at LIMIT ?1;

-- name: expired
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.state IN ('held', 'pending') AND d.expires_at <= office_now()
ORDER BY d.expires_at LIMIT ?1;

-- name: waiting
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.state = 'pending' AND {unexpired}
ORDER BY d.priority, d.number LIMIT ?2;

-- name: waiting_in_session
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.session_id = ?2 AND d.mailbox = ?1 AND d.state = 'pending' AND {unexpired} AND (?3 IS NULL OR d.correlation_id = ?3)
ORDER BY d.priority, d.number LIMIT ?4;

-- name: waiting_answers
-- What came after a message and replies to it by either of its ids, or carries its correlation id on in its session.
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.state = 'pending' AND {unexpired} AND d.message_id > ?2
  AND ((d.session_id = ?4 AND d.correlation_id = ?5) OR json_extract(m.body, '$.reply_to') IN (?2, ?3))
ORDER BY d.priority, d.number LIMIT ?6;

-- name: waiting_correlated
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.correlation_id = ?2 AND d.state = 'pending' AND {unexpired}
ORDER BY d.priority, d.number LIMIT ?3;

-- name: waiting_correlated_heads
-- The first of each session that has none in hand, among what is correlated.
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.correlation_id = ?2 AND d.state = 'pending' AND {unexpired}
  AND (d.session_id IS NULL
       OR (NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.session_id = d.session_id AND l.mailbox = d.mailbox AND l.state = 'leased'
                          AND (l.due_at IS NULL OR l.due_at > office_now()))
           AND NOT EXISTS (SELECT 1 FROM deliveries e
                           WHERE e.mailbox = d.mailbox AND e.correlation_id = d.correlation_id AND e.state = 'pending' AND {unexpired}
                             AND e.session_id = d.session_id AND (e.priority, e.number) < (d.priority, d.number))))
ORDER BY d.priority, d.number LIMIT ?3;

-- part: is_head
-- The first of its session is looked up: a comparison of two columns would go through the whole session for it.
(d.session_id IS NULL
       OR (NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.session_id = d.session_id AND l.mailbox = d.mailbox AND l.state = 'leased')
           AND d.id = (SELECT e.id FROM deliveries e WHERE e.mailbox = d.mailbox AND e.session_id = d.session_id AND e.state = 'pending' AND {unexpired}
                       ORDER BY e.priority, e.number LIMIT 1)))

-- part: head_window
-- So much of what waits is looked through in its order. What is beyond is found session by session.
32

-- name: waiting_heads
-- The first message of each session that has none in hand.
SELECT {delivery} FROM (SELECT * FROM deliveries WHERE mailbox = ?1 AND state = 'pending' AND {unexpired} ORDER BY priority, number LIMIT {head_window}) AS d
JOIN messages m ON m.id = d.message_id
WHERE {is_head}
ORDER BY d.priority, d.number LIMIT ?2;

-- name: waiting_heads_beyond
-- The same where more waits than was looked through, and too few sessions were free among that: one session after another, however much waits in each.
WITH RECURSIVE waiting (session_id) AS (
  SELECT * FROM (SELECT session_id FROM deliveries WHERE mailbox = ?1 AND state = 'pending' AND session_id IS NOT NULL
                   AND EXISTS (SELECT 1 FROM deliveries WHERE mailbox = ?1 AND state = 'pending' LIMIT 1 OFFSET {head_window})
                 ORDER BY session_id LIMIT 1)
  UNION ALL
  SELECT (SELECT d.session_id FROM deliveries d WHERE d.mailbox = ?1 AND d.state = 'pending' AND d.session_id > s.session_id ORDER BY d.session_id LIMIT 1)
  FROM waiting s WHERE s.session_id IS NOT NULL),
heads (id) AS (
  SELECT (SELECT d.id FROM deliveries d WHERE d.mailbox = ?1 AND d.session_id = s.session_id AND d.state = 'pending' AND {unexpired}
          ORDER BY d.priority, d.number LIMIT 1)
  FROM waiting s WHERE s.session_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.mailbox = ?1 AND l.session_id = s.session_id AND l.state = 'leased')
  UNION ALL
  SELECT * FROM (SELECT id FROM deliveries WHERE mailbox = ?1 AND state = 'pending' AND session_id IS NULL AND {unexpired}
                 ORDER BY priority, number LIMIT ?2))
SELECT {delivery} FROM heads h JOIN deliveries d ON d.id = h.id JOIN messages m ON m.id = d.message_id
ORDER BY d.priority, d.number LIMIT ?2;

-- name: in_hand
SELECT mailbox, session_id FROM deliveries
WHERE mailbox = ?1 AND session_id = ?2 AND state = 'leased' AND (due_at IS NULL OR due_at > office_now());

-- name: leased_in_session
-- Also what ran out and nobody has returned yet.
SELECT message_id FROM deliveries WHERE mailbox = ?1 AND session_id = ?2 AND state = 'leased';

-- name: dedupe
SELECT sender, addressee, client_id, fingerprint, answer, at FROM dedupe WHERE sender = ?1 AND addressee = ?2 AND client_id = ?3;

-- name: add_message
INSERT INTO messages (id, sender, client_id, type, ref_id, created_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: add_delivery
INSERT INTO deliveries (id, message_id, mailbox, number, priority, state, sender, type, session_id, session_number, correlation_id, created_at,
                        settled_at, size, deliver_at, expires_at, filed)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, 0);

-- name: update_delivery
UPDATE deliveries SET state = ?2, attempts = ?3, token = ?4, holder = ?5, tokenless = ?5 IS NOT NULL, due_at = ?6, leased_at = ?7, settled_at = ?8, reason = ?9,
                      seen_at = ?10
WHERE id = ?1;

-- name: place_delivery
UPDATE deliveries SET number = ?2, session_number = ?3, created_at = ?4, deliver_at = ?5, expires_at = ?6 WHERE id = ?1;

-- name: add_dedupe
INSERT INTO dedupe (sender, addressee, client_id, fingerprint, answer, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (sender, addressee, client_id) DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer, at = excluded.at;
