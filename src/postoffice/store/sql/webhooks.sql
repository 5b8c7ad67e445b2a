-- Webhooks, and the events on their way to them, the same on both engines.

-- part: webhook_row
name, id, url, secrets, kinds, agents, shape, bodies, state, since, error, place, counted, created_at, delivered_at, notify

-- part: webhook_trouble
-- Of those who are told nothing any more, and those that left something untold, but not of those that the owner holds.
(w.state <> 'paused' AND (w.state <> 'active' OR EXISTS (SELECT 1 FROM webhook_posts p WHERE p.webhook = w.id AND p.state = 'failed')))

-- part: webhook_next
-- Whether it is the first that waits in its queue.
p.state = 'waiting' AND NOT EXISTS
  (SELECT 1 FROM webhook_posts b WHERE b.webhook = p.webhook AND b.state = 'waiting' AND b.line = p.line AND b.number < p.number)

-- name: webhook_rows
SELECT {webhook_row} FROM webhooks WHERE state = 'active' ORDER BY name;

-- name: webhooks
SELECT w.name, w.id, w.url, w.secrets, w.kinds, w.agents, w.shape, w.bodies, w.state, w.since, w.error, w.place, w.counted, w.created_at, w.delivered_at, w.notify,
  (SELECT count(*) FROM webhook_posts p WHERE p.webhook = w.id AND p.state = 'waiting'),
  (SELECT count(*) FROM webhook_posts p WHERE p.webhook = w.id AND p.state = 'failed'),
  (SELECT min(p.due_at) FROM webhook_posts p WHERE p.webhook = w.id AND w.state = 'active' AND {webhook_next})
FROM webhooks w WHERE (w.notify IS NOT NULL) = (CAST(:notify AS bigint) = 1) AND (CAST(:webhook AS text) IS NULL OR w.name = :webhook) ORDER BY w.name;

-- name: webhook_posts_due
-- In each queue the first that waits, if it is due; nothing where nothing goes out.
SELECT p.number, p.id, p.body, p.attempts FROM webhook_posts p
WHERE p.webhook = :webhook AND p.due_at <= (SELECT office_now()) AND {webhook_next}
  AND EXISTS (SELECT 1 FROM webhooks w WHERE w.id = p.webhook AND w.state = 'active')
ORDER BY p.number LIMIT :limit;

-- name: webhooks_for_you
SELECT w.name, w.url, w.state, w.since, w.error, (SELECT count(*) FROM webhook_posts p WHERE p.webhook = w.id AND p.state = 'failed'), w.notify
FROM webhooks w WHERE {webhook_trouble} ORDER BY w.since LIMIT :limit;
