-- Conversations and what waits in them, for whoever looks over everybody's shoulder. The same on both engines.

-- name: talks
-- The newest letters are gone through, and of each conversation only the last is kept: this needs no index that every send would pay for.
SELECT m.body, t.session_id, t.sessions, t.recipients, t.waiting, t.leased, t.dead, t.letters FROM (
  SELECT d.message_id, min(CAST(d.session_id AS text)) AS session_id, count(DISTINCT d.session_id) AS sessions, count(*) AS recipients,
         sum(CASE WHEN d.state IN ('held', 'pending') THEN 1 ELSE 0 END) AS waiting,
         sum(CASE WHEN d.state = 'leased' THEN 1 ELSE 0 END) AS leased, sum(CASE WHEN d.state = 'dead' THEN 1 ELSE 0 END) AS dead,
         max(coalesce(s.counted - s.gaps, l.counted, 1)) AS letters
  FROM (SELECT message_id, session_id, session_number, state FROM deliveries WHERE message_id < :before ORDER BY message_id DESC LIMIT :most) AS d
  LEFT JOIN sessions s ON s.id = d.session_id LEFT JOIN lists l ON l.id = d.session_id
  WHERE (d.session_id IS NULL OR d.session_number = coalesce(s.counted, l.counted))
    AND (CAST(:waiting AS bigint) = 0 OR s.unread_low + s.unread_high > 0 OR (s.id IS NULL AND d.state = 'pending'))
  GROUP BY d.message_id ORDER BY d.message_id DESC LIMIT :limit
) AS t JOIN messages m ON m.id = t.message_id ORDER BY t.message_id DESC;

-- name: talks_reach
SELECT CAST(message_id AS text) FROM deliveries WHERE message_id < :before ORDER BY message_id DESC LIMIT 1 OFFSET :most;

-- name: sessions_between
SELECT CAST(id AS text), subject FROM sessions
WHERE low = :low AND high = :high AND (CAST(:subject AS text) IS NULL OR subject_key = :subject) ORDER BY last_at DESC LIMIT :limit;

-- name: customs
-- By rank, as only one of the engines knows percentiles.
SELECT (SELECT name FROM agents WHERE agent = c.mailbox), c.taken, c.wait FROM (
  SELECT mailbox, max(taken) AS taken, max(CASE WHEN place = (taken * 95 + 99) / 100 THEN wait END) AS wait FROM (
    SELECT mailbox, wait, count(*) OVER (PARTITION BY mailbox) AS taken, row_number() OVER (PARTITION BY mailbox ORDER BY wait) AS place FROM (
      SELECT mailbox, leased_at - created_at AS wait FROM (
        SELECT mailbox, leased_at, created_at FROM deliveries ORDER BY message_id DESC LIMIT :most) AS newest WHERE leased_at IS NOT NULL) AS waits
  ) AS ranked GROUP BY mailbox) AS c;

-- name: waits
-- Who waits on whom: mail that was not taken, so far as it is looked through, and work that is not done. Nobody waits for what the office says.
SELECT (SELECT name FROM agents WHERE agent = w.waiter), (SELECT name FROM agents WHERE agent = w.waited_on), sum(w.letters), sum(w.tasks), min(w.since) FROM (
  SELECT sender AS waiter, mailbox AS waited_on, 1 AS letters, 0 AS tasks, created_at AS since FROM (
    SELECT sender, mailbox, created_at, type FROM deliveries WHERE state = 'pending' ORDER BY mailbox, priority, number LIMIT :most) AS pending
  WHERE sender <> 'system' AND sender <> mailbox AND type NOT IN ('task', 'task_update')
  UNION ALL
  SELECT requester, assignee, 0, 1, created_at FROM tasks WHERE state IN ('pending', 'accepted', 'working') AND requester <> assignee
) AS w GROUP BY w.waiter, w.waited_on ORDER BY min(w.since), w.waiter, w.waited_on LIMIT :limit;

-- name: deeds
-- Also what arrived before and was settled since is work of that time; how far back is looked stands with the deliveries gone through.
SELECT CAST(r.message_id AS text), (SELECT name FROM agents WHERE agent = r.sender), (SELECT name FROM agents WHERE agent = r.mailbox),
       r.state, r.attempts, r.created_at, r.leased_at, r.settled_at
FROM (SELECT message_id, sender, mailbox, state, attempts, created_at, leased_at, settled_at, due_at FROM deliveries
      WHERE (CAST(:agent AS text) IS NULL OR mailbox = :agent OR sender = :agent) ORDER BY message_id DESC LIMIT :most) AS r
WHERE coalesce(r.settled_at, r.created_at) >= :begun AND (CAST(:agent AS text) IS NULL OR r.state <> 'held');
