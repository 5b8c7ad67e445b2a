-- The whole office at a glance, the same on both engines.

-- name: totals
SELECT (SELECT count(*) FROM agents WHERE NOT forgotten AND {no_role}) - 2, sum(held), sum(pending), sum(leased), sum(dead), sum(counted), office_now() FROM mailboxes;

-- part: oldest_of
(SELECT min((SELECT d.created_at FROM deliveries d WHERE d.mailbox = a.agent AND d.state = 'pending' AND d.priority = p.n ORDER BY d.number LIMIT 1))
 FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) AS p)

-- name: roster
SELECT {agent}, {seen}, {oldest_of}, office_now() FROM agents a JOIN mailboxes b ON b.agent = a.agent
WHERE a.agent > :after AND a.agent NOT IN ('system', 'owner') AND NOT a.forgotten AND a.{no_role} ORDER BY a.agent LIMIT :limit;

-- name: longest_waiting
SELECT name, pending, oldest, office_now() FROM (
  SELECT a.name, b.pending, {oldest_of} AS oldest FROM agents a JOIN mailboxes b ON b.agent = a.agent WHERE b.pending > 0
) AS waiting WHERE oldest IS NOT NULL ORDER BY oldest LIMIT :limit;

-- name: glances
SELECT m.body, s.recipients, s.waiting, s.leased, s.dead, s.session_id FROM messages m
LEFT JOIN (
  SELECT d.message_id, count(*) AS recipients, min(CAST(d.session_id AS text)) AS session_id,
         sum(CASE WHEN d.state IN ('held', 'pending') THEN 1 ELSE 0 END) AS waiting,
         sum(CASE WHEN d.state = 'leased' THEN 1 ELSE 0 END) AS leased, sum(CASE WHEN d.state = 'dead' THEN 1 ELSE 0 END) AS dead
  FROM deliveries d
  WHERE d.message_id IN (SELECT id FROM messages WHERE id < :before ORDER BY id DESC LIMIT :limit)
  GROUP BY d.message_id) AS s ON s.message_id = m.id
WHERE m.id < :before ORDER BY m.id DESC LIMIT :limit;

-- part: recent_deliveries
(SELECT d.sender, d.mailbox, d.state, d.created_at, d.leased_at, d.settled_at FROM deliveries d
 WHERE d.message_id >= :since AND ({let_through} OR CAST(:agent AS text) IS NULL OR d.sender = :agent) ORDER BY d.message_id DESC LIMIT :most) AS r
WHERE r.created_at >= :begun AND (CAST(:agent AS text) IS NULL OR r.mailbox = :agent OR r.sender = :agent)

-- name: slots
-- The middle and the 95th of a hundred, by rank: both engines can count, only one knows percentiles.
WITH recent AS (
  SELECT (r.created_at - :begun) / :width AS slot, r.leased_at - r.created_at AS wait,
         CASE WHEN r.state = 'acked' THEN r.settled_at - r.created_at END AS latency
  FROM {recent_deliveries}
), ranked AS (
  SELECT slot, wait, latency, count(wait) OVER (PARTITION BY slot) AS waits, count(latency) OVER (PARTITION BY slot) AS latencies,
         row_number() OVER (PARTITION BY slot ORDER BY wait IS NULL, wait) AS wait_rank,
         row_number() OVER (PARTITION BY slot ORDER BY latency IS NULL, latency) AS latency_rank
  FROM recent
)
SELECT slot, count(*),
       max(CASE WHEN wait_rank = (waits + 1) / 2 THEN wait END), max(CASE WHEN wait_rank = (waits * 95 + 99) / 100 THEN wait END),
       max(CASE WHEN latency_rank = (latencies + 1) / 2 THEN latency END), max(CASE WHEN latency_rank = (latencies * 95 + 99) / 100 THEN latency END)
FROM ranked GROUP BY slot ORDER BY slot;

-- name: exchanges
SELECT (SELECT name FROM agents WHERE agent = e.sender), (SELECT name FROM agents WHERE agent = e.mailbox), e.letters, e.last_at
FROM (SELECT r.sender, r.mailbox, count(*) AS letters, max(r.created_at) AS last_at FROM {recent_deliveries}
      GROUP BY r.sender, r.mailbox) AS e
ORDER BY e.letters DESC, e.sender, e.mailbox LIMIT :limit;
