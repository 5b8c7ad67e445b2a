-- Sessions and their lines, the same on both engines.

-- part: session
CAST(id AS text), low, high, subject, subject_key, counted, unread_low, unread_high, replies_left, created_at, last_at

-- part: session_of_sent
d.mailbox, d.correlation_id, CAST(s.id AS text), s.low, s.high, s.subject, s.subject_key, s.counted, s.unread_low, s.unread_high, s.replies_left, s.created_at, s.last_at

-- part: inbox_columns
s.id, s.subject, s.counted, s.created_at, s.last_at, a.name AS other

-- part: with_lines
-- A row for each session, and one for each line, in no order: joined to its lines each session would come as often as it has any.
-- A session counts its messages, so its last ones are known by number. It counts among the unread what is held, which its reader is not told of.
, held AS (
  SELECT session_id, sum(held) AS held, sum(hidden) AS hidden FROM (
    SELECT session_id, 1 AS held, CASE WHEN due_at IS NULL THEN 1 ELSE 0 END AS hidden
    FROM deliveries WHERE mailbox = :agent AND state = 'held' AND session_id IS NOT NULL
    UNION ALL SELECT session_id, 0, 1 FROM deliveries WHERE mailbox = :agent AND deliver_at IS NOT NULL AND state <> 'held' AND session_id IS NOT NULL
  ) AS kept GROUP BY session_id)
SELECT CAST(s.id AS text), s.last_at, s.subject, s.other, s.unread - coalesce(h.held, 0), s.created_at, coalesce(h.hidden, 0),
       NULL AS mailbox, NULL AS state, NULL AS session_number, NULL AS seen_at, NULL AS body
FROM shown s LEFT JOIN held h ON h.session_id = s.id
UNION ALL {lines_of_shown}

-- name: inbox
-- Each half reads its own index; the newest of both are the newest of all.
WITH shown AS (
  SELECT * FROM (
    SELECT * FROM (
      SELECT {inbox_columns}, s.unread_low AS unread FROM sessions s JOIN agents a ON a.agent = s.high
      WHERE s.low = :agent AND (s.last_at, s.id) < (:before, :before_id) ORDER BY s.last_at DESC, s.id DESC LIMIT :limit) AS low_side
    UNION ALL
    SELECT * FROM (
      SELECT {inbox_columns}, s.unread_high AS unread FROM sessions s JOIN agents a ON a.agent = s.low
      WHERE s.high = :agent AND (s.last_at, s.id) < (:before, :before_id) ORDER BY s.last_at DESC, s.id DESC LIMIT :limit) AS high_side
  ) AS both_sides ORDER BY last_at DESC, id DESC LIMIT :limit)
{with_lines};

-- name: inbox_unread
-- Found by what waits, not by an index over counts: that one would have to follow every lease and every ack.
WITH shown AS (
  SELECT {inbox_columns}, CASE WHEN s.low = :agent THEN s.unread_low ELSE s.unread_high END AS unread
  FROM (SELECT DISTINCT session_id FROM deliveries WHERE mailbox = :agent AND state = 'pending' AND session_id IS NOT NULL AND seen_at IS NULL) AS waits
  JOIN sessions s ON s.id = waits.session_id
  JOIN agents a ON a.agent = CASE WHEN s.low = :agent THEN s.high ELSE s.low END
  WHERE (s.last_at, s.id) < (:before, :before_id) ORDER BY s.last_at DESC, s.id DESC LIMIT :limit)
{with_lines};

-- name: inbox_unread_of_many
-- Where thousands wait, most sessions have something unread: they are found as in the inbox, and what waits is not looked through.
WITH shown AS (
  SELECT * FROM (
    SELECT * FROM (
      SELECT {inbox_columns}, s.unread_low AS unread FROM sessions s JOIN agents a ON a.agent = s.high
      WHERE s.low = :agent AND s.unread_low > 0 AND (s.last_at, s.id) < (:before, :before_id) ORDER BY s.last_at DESC, s.id DESC LIMIT :limit) AS low_side
    UNION ALL
    SELECT * FROM (
      SELECT {inbox_columns}, s.unread_high AS unread FROM sessions s JOIN agents a ON a.agent = s.low
      WHERE s.high = :agent AND s.unread_high > 0 AND (s.last_at, s.id) < (:before, :before_id) ORDER BY s.last_at DESC, s.id DESC LIMIT :limit) AS high_side
  ) AS both_sides ORDER BY last_at DESC, id DESC LIMIT :limit)
{with_lines};

-- name: session
SELECT {session} FROM sessions WHERE id = :id;

-- name: session_number
-- By the message: a long session is not looked through for it.
SELECT session_number FROM deliveries WHERE message_id = :message AND CAST(session_id AS text) = :session;
