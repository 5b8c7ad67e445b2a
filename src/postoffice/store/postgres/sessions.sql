-- Sessions and their lines, on PostgreSQL.

-- part: lines_of_shown
SELECT CAST(d.session_id AS text), NULL, NULL, NULL, NULL, NULL, NULL, d.mailbox, d.state, d.session_number, d.seen_at, m.body
FROM shown t JOIN deliveries d ON d.session_id = t.id AND d.session_number > t.counted - :lines
JOIN messages m ON m.id = d.message_id WHERE {let_through} OR d.mailbox <> :agent

-- name: lines
-- By whoever is no part of a session it is read only where that one is the owner, who is named by nothing.
SELECT {delivery} FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[]) AS k (session_id, before, most, reader)
CROSS JOIN LATERAL (
  SELECT d.* FROM deliveries d WHERE d.session_id = k.session_id AND d.session_number < k.before AND ({let_through} OR d.mailbox <> k.reader)
    AND (k.reader = '' OR EXISTS (SELECT 1 FROM sessions s WHERE s.id = k.session_id AND k.reader IN (s.low, s.high)))
  ORDER BY d.session_number DESC LIMIT k.most) AS d
JOIN messages m ON m.id = d.message_id ORDER BY d.session_number DESC;

-- name: held_in
-- Of a session and one of its agents: how much is held, how much of it since it was sent, and when that agent was last told something.
SELECT h.held, h.hidden, (SELECT d.created_at FROM deliveries d WHERE d.session_id = k.session_id AND ({let_through} OR d.mailbox <> k.mailbox)
                          ORDER BY d.session_number DESC LIMIT 1)
FROM unnest($1::uuid[], $2::text[]) AS k (session_id, mailbox)
CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE w.state = 'held') AS held,
                           count(*) FILTER (WHERE w.due_at IS NULL OR w.state <> 'held') AS hidden FROM (
                      SELECT state, due_at FROM deliveries w WHERE w.mailbox = k.mailbox AND w.state = 'held' AND w.session_id = k.session_id
                      UNION ALL SELECT state, due_at FROM deliveries w
                      WHERE w.mailbox = k.mailbox AND w.deliver_at IS NOT NULL AND w.state <> 'held' AND w.session_id = k.session_id) AS w) AS h;

-- name: sessions_by_id
SELECT {session} FROM sessions WHERE id = ANY ($1::uuid[]);

-- name: sessions_by_key
SELECT {session} FROM unnest($1::text[], $2::text[], $3::text[]) AS k (k_low, k_high, k_subject)
JOIN sessions ON low = k_low AND high = k_high AND subject_key = k_subject;

-- name: add_session
INSERT INTO sessions (id, low, high, subject, subject_key, counted, unread_low, unread_high, replies_left, created_at, last_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
                     $10::bigint[], $11::bigint[]);

-- name: update_session
UPDATE sessions s SET counted = v.counted, unread_low = v.unread_low, unread_high = v.unread_high, replies_left = v.replies_left, last_at = v.last_at
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
  AS v (id, counted, unread_low, unread_high, replies_left, last_at)
WHERE s.id = v.id;

-- name: count_gap
UPDATE sessions s SET gaps = s.gaps + k.more FROM (SELECT id, count(*) AS more FROM unnest($1::uuid[]) AS id GROUP BY id) AS k WHERE s.id = k.id;

-- name: update_unread
UPDATE sessions s SET unread_low = v.unread_low, unread_high = v.unread_high
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS v (id, unread_low, unread_high)
WHERE s.id = v.id;
