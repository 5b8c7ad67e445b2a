-- Messages and deliveries, on PostgreSQL: each statement takes the keys or rows of a whole group of acts as arrays.
-- Locks are taken in the order that store/loading.py tells: deliveries by id, then whatever is free, then mailboxes by name.
-- Statements that run as one run in the order of this file, so what locks mail stays together here.

-- name: mail
SELECT {bare_delivery} FROM unnest($1::uuid[], $2::text[]) AS k (message_id, mailbox)
JOIN deliveries d ON d.message_id = k.message_id AND d.mailbox = k.mailbox
ORDER BY d.id FOR UPDATE OF d;

-- name: mail_and_bodies
SELECT {delivery} FROM unnest($1::uuid[], $2::text[]) AS k (message_id, mailbox)
JOIN deliveries d ON d.message_id = k.message_id AND d.mailbox = k.mailbox
JOIN messages m ON m.id = d.message_id
ORDER BY d.id FOR UPDATE OF d;

-- name: mail_by_client_id
SELECT {delivery} FROM unnest($1::text[], $2::text[]) AS k (client_id, mailbox)
JOIN messages m ON m.client_id = k.client_id
JOIN deliveries d ON d.message_id = m.id AND d.mailbox = k.mailbox
ORDER BY d.id FOR UPDATE OF d;

-- name: sent_mail
-- Where a message stands with one of those it went to, for its sender: its mark and its session.
SELECT {session_of_sent} FROM unnest($1::uuid[], $2::text[], $3::text[]) AS k (message_id, sender, mailbox)
JOIN messages m ON m.id = k.message_id AND m.sender = k.sender
LEFT JOIN deliveries d ON d.message_id = m.id AND d.mailbox = k.mailbox LEFT JOIN sessions s ON s.id = d.session_id;

-- name: sent_mail_by_client_id
SELECT {session_of_sent} FROM unnest($1::text[], $2::text[], $3::text[]) AS k (client_id, sender, mailbox)
JOIN messages m ON m.client_id = k.client_id AND m.sender = k.sender
LEFT JOIN deliveries d ON d.message_id = m.id AND d.mailbox = k.mailbox LEFT JOIN sessions s ON s.id = d.session_id
ORDER BY d.id IS NULL LIMIT 2;

-- name: has_got
SELECT 1 FROM unnest($1::uuid[], $2::text[]) AS k (message_id, mailbox)
JOIN deliveries d ON d.message_id = k.message_id AND d.mailbox = k.mailbox;

-- name: ids_ending
{mine} WHERE right(CAST(n.message_id AS text), 4) = ANY (:endings::text[]);

-- name: unfinished_ids_ending
SELECT CAST(n.message_id AS text) FROM ({unfinished}) AS n
WHERE n.message_id < :before AND right(CAST(n.message_id AS text), 4) = ANY (:endings::text[]);

-- name: put_await
INSERT INTO awaits (id, agent, other, until) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, other = excluded.other, until = excluded.until;

-- name: drop_await
-- With it whatever has outlived its time: its process died.
DELETE FROM awaits WHERE id = ANY ($1::text[]) OR until < (SELECT office_now());

-- name: due
-- The time is asked for once: compared with a function that may say something else for each row, no index is of use.
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.due_at <= (SELECT office_now())
ORDER BY d.due_at LIMIT (SELECT max(k) FROM unnest($1::bigint[]) AS k) FOR UPDATE OF d SKIP LOCKED;

-- name: come_due
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.state = 'held' AND d.deliver_at <= (SELECT office_now())
ORDER BY d.deliver_at LIMIT (SELECT max(k) FROM unnest($1::bigint[]) AS k) FOR UPDATE OF d SKIP LOCKED;

-- name: expired
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.state IN ('held', 'pending') AND d.expires_at <= (SELECT office_now())
ORDER BY d.expires_at LIMIT (SELECT max(k) FROM unnest($1::bigint[]) AS k) FOR UPDATE OF d SKIP LOCKED;

-- name: waiting
SELECT {delivery} FROM unnest($1::text[], $2::bigint[]) AS k (mailbox, most)
CROSS JOIN LATERAL (
  SELECT * FROM deliveries w WHERE w.mailbox = k.mailbox AND w.state = 'pending' AND {unexpired}
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_in_session
SELECT {delivery} FROM unnest($1::text[], $2::uuid[], $3::text[], $4::bigint[]) AS k (mailbox, session_id, correlation_id, most)
CROSS JOIN LATERAL (
  SELECT * FROM deliveries w WHERE w.session_id = k.session_id AND w.mailbox = k.mailbox AND w.state = 'pending' AND {unexpired}
    AND (k.correlation_id IS NULL OR w.correlation_id = k.correlation_id)
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_answers
-- What came after a message and replies to it by either of its ids, or carries its correlation id on in its session.
SELECT {delivery} FROM unnest($1::text[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::bigint[])
  AS k (mailbox, asked, named, session_id, correlation_id, most)
CROSS JOIN LATERAL (
  SELECT w.* FROM deliveries w JOIN messages a ON a.id = w.message_id
  WHERE w.mailbox = k.mailbox AND w.state = 'pending' AND {unexpired} AND w.message_id > k.asked
    AND ((w.session_id = k.session_id AND w.correlation_id = k.correlation_id) OR a.body ->> 'reply_to' IN (k.asked::text, k.named))
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE OF w SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_correlated
SELECT {delivery} FROM unnest($1::text[], $2::text[], $3::bigint[]) AS k (mailbox, correlation_id, most)
CROSS JOIN LATERAL (
  SELECT * FROM deliveries w WHERE w.mailbox = k.mailbox AND w.correlation_id = k.correlation_id AND w.state = 'pending' AND {unexpired}
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_correlated_heads
-- The first of each session that has none in hand, among what is correlated.
SELECT {delivery} FROM unnest($1::text[], $2::text[], $3::bigint[]) AS k (mailbox, correlation_id, most)
CROSS JOIN LATERAL (
  SELECT w.* FROM deliveries w
  WHERE w.mailbox = k.mailbox AND w.correlation_id = k.correlation_id AND w.state = 'pending' AND {unexpired}
    AND (w.session_id IS NULL
         OR (NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.session_id = w.session_id AND l.mailbox = w.mailbox AND l.state = 'leased'
                            AND (l.due_at IS NULL OR l.due_at > office_now()))
             AND NOT EXISTS (SELECT 1 FROM deliveries e
                             WHERE e.mailbox = w.mailbox AND e.correlation_id = w.correlation_id AND e.state = 'pending' AND {unexpired}
                               AND e.session_id = w.session_id AND (e.priority, e.number) < (w.priority, w.number))))
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE OF w SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- part: is_head
(w.session_id IS NULL
         OR (NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.session_id = w.session_id AND l.mailbox = w.mailbox AND l.state = 'leased')
             AND NOT EXISTS (SELECT 1 FROM deliveries e
                             WHERE e.session_id = w.session_id AND e.mailbox = w.mailbox AND e.state = 'pending' AND {unexpired}
                               AND (e.priority, e.number) < (w.priority, w.number))))

-- part: head_window
-- So much of what waits is looked through in its order. What is beyond is found session by session.
32

-- name: waiting_heads
-- The first message of each session that has none in hand. Another taker's first one may be locked and not yet leased:
-- it still stands before the others of its session, so none of those is taken for a first.
SELECT {delivery} FROM unnest($1::text[], $2::bigint[]) AS k (mailbox, most)
LEFT JOIN LATERAL (SELECT e.priority, e.number FROM deliveries e WHERE e.mailbox = k.mailbox AND e.state = 'pending'
                   ORDER BY e.priority, e.number OFFSET {head_window} LIMIT 1) AS beyond ON true
CROSS JOIN LATERAL (
  SELECT w.* FROM deliveries w
  WHERE w.mailbox = k.mailbox AND w.state = 'pending' AND {unexpired}
    AND (w.priority, w.number) < (coalesce(beyond.priority, 9223372036854775807), coalesce(beyond.number, 0))
    AND {is_head}
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE OF w SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_heads_beyond
-- The same where more waits than was looked through, and too few sessions were free among that: one session after another, however much waits in each.
-- Where it might be equal, PostgreSQL would also go through all that waits; in this order it is only to be had session by session.
SELECT {delivery} FROM unnest($1::text[], $2::bigint[]) AS k (mailbox, most)
CROSS JOIN LATERAL (
  WITH RECURSIVE waiting (session_id) AS (
    (SELECT w.session_id FROM deliveries w WHERE w.mailbox = k.mailbox AND w.state = 'pending' AND w.session_id IS NOT NULL
       AND EXISTS (SELECT 1 FROM deliveries e WHERE e.mailbox = k.mailbox AND e.state = 'pending' OFFSET {head_window})
     ORDER BY w.session_id LIMIT 1)
    UNION ALL
    SELECT (SELECT w.session_id FROM deliveries w WHERE w.mailbox = k.mailbox AND w.state = 'pending' AND w.session_id > s.session_id
            ORDER BY w.session_id LIMIT 1)
    FROM waiting s WHERE s.session_id IS NOT NULL),
  heads (id) AS (
    SELECT h.id FROM waiting s CROSS JOIN LATERAL (
      SELECT w.id FROM deliveries w
      WHERE w.mailbox = k.mailbox AND w.session_id BETWEEN s.session_id AND s.session_id AND w.state = 'pending' AND {unexpired}
      ORDER BY w.session_id, w.priority, w.number LIMIT 1) AS h
    WHERE (SELECT l.id FROM deliveries l WHERE l.mailbox = k.mailbox AND l.session_id = s.session_id AND l.state = 'leased' LIMIT 1) IS NULL
    UNION ALL
    (SELECT w.id FROM deliveries w WHERE w.mailbox = k.mailbox AND w.state = 'pending' AND w.session_id IS NULL AND {unexpired}
     ORDER BY w.priority, w.number LIMIT k.most + {head_window}))
  SELECT w.* FROM heads h JOIN deliveries w ON w.id = h.id WHERE w.state = 'pending'
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE OF w SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: in_hand
SELECT d.mailbox, CAST(d.session_id AS text) FROM unnest($1::text[], $2::uuid[]) AS k (mailbox, session_id)
JOIN deliveries d ON d.session_id = k.session_id AND d.mailbox = k.mailbox AND d.state = 'leased'
WHERE d.due_at IS NULL OR d.due_at > office_now();

-- name: leased_in_session
-- Also what ran out and nobody has returned yet.
SELECT CAST(d.message_id AS text) FROM unnest($1::text[], $2::uuid[]) AS k (mailbox, session_id)
JOIN deliveries d ON d.session_id = k.session_id AND d.mailbox = k.mailbox AND d.state = 'leased';

-- name: dedupe
SELECT d.sender, d.addressee, d.client_id, d.fingerprint, d.answer, d.at
FROM unnest($1::text[], $2::text[], $3::text[]) AS k (sender, addressee, client_id)
JOIN dedupe d ON d.sender = k.sender AND d.client_id = k.client_id AND md5(d.addressee) = md5(k.addressee);

-- name: doubt_mail
-- Whether not all of this can be locked: mail that others hold is not waited for, they may wait for the mailboxes of this group.
SELECT CASE WHEN count(*) < $2::bigint THEN 'changed' END AS doubt
FROM (SELECT 1 FROM deliveries WHERE id = ANY ($1::text::uuid[]) ORDER BY id FOR UPDATE SKIP LOCKED) AS mail;

-- name: doubt_unused
-- Whether one of these ids has been used. That changes its recipient's mailbox too, so none is used in between unnoticed.
SELECT CASE WHEN EXISTS (
  SELECT 1 FROM unnest($1::text[], $2::text[], $3::text[]) AS k (sender, addressee, client_id)
  JOIN dedupe d ON d.sender = k.sender AND d.client_id = k.client_id AND md5(d.addressee) = md5(k.addressee)) THEN 'more' END AS doubt;

-- name: doubt_nothing_due
SELECT CASE WHEN EXISTS (SELECT 1 FROM deliveries WHERE due_at <= t.now) OR EXISTS (SELECT 1 FROM deliveries WHERE state = 'held' AND deliver_at <= t.now)
              OR EXISTS (SELECT 1 FROM deliveries WHERE state IN ('held', 'pending') AND expires_at <= t.now) THEN 'more' END AS doubt
FROM (SELECT office_now() AS now) AS t;

-- name: add_message
INSERT INTO messages (id, sender, client_id, type, ref_id, created_at, body)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::json[]);

-- name: add_delivery
INSERT INTO deliveries (id, message_id, mailbox, number, priority, state, sender, type, session_id, session_number, correlation_id, created_at,
                        settled_at, size, deliver_at, expires_at)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::uuid[],
                     $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[]);

-- name: update_delivery
UPDATE deliveries d SET state = v.state, attempts = v.attempts, token = v.token, holder = v.holder, tokenless = v.holder IS NOT NULL, due_at = v.due_at,
                        leased_at = v.leased_at, settled_at = v.settled_at, reason = v.reason, seen_at = v.seen_at
FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[],
            $10::bigint[])
  AS v (id, state, attempts, token, holder, due_at, leased_at, settled_at, reason, seen_at)
WHERE d.id = v.id;

-- name: place_delivery
UPDATE deliveries d SET number = v.number, session_number = v.session_number, created_at = v.created_at, deliver_at = v.deliver_at, expires_at = v.expires_at
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
  AS v (id, number, session_number, created_at, deliver_at, expires_at)
WHERE d.id = v.id;

-- name: add_dedupe
INSERT INTO dedupe (sender, addressee, client_id, fingerprint, answer, at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[])
ON CONFLICT (sender, client_id, md5(addressee)) DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer, at = excluded.at;
