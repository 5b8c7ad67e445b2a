-- Webhooks, and the events on their way to them, on PostgreSQL.

-- name: webhook
SELECT {webhook_row} FROM webhooks WHERE name = ANY ($1::text[]);

-- name: put_webhook
INSERT INTO webhooks (name, id, url, secrets, kinds, agents, shape, bodies, state, since, error, place, counted, created_at, delivered_at, notify)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::bigint[], $15::bigint[], $16::text[])
ON CONFLICT (name) DO UPDATE SET id = excluded.id, url = excluded.url, secrets = excluded.secrets, kinds = excluded.kinds, agents = excluded.agents, shape = excluded.shape, bodies = excluded.bodies, state = excluded.state, since = excluded.since, error = excluded.error, place = excluded.place, counted = excluded.counted, created_at = excluded.created_at, delivered_at = excluded.delivered_at, notify = excluded.notify;

-- name: delete_webhook
DELETE FROM webhooks WHERE name = ANY ($1::text[]);

-- name: webhook_post
SELECT created_at, state FROM webhook_posts WHERE webhook = ANY ($1::text[]) AND number = ANY ($2::bigint[]);

-- name: add_webhook_post
INSERT INTO webhook_posts (webhook, number, id, line, body, state, attempts, due_at, created_at)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[]);

-- name: update_webhook_post
UPDATE webhook_posts p SET state = v.state, attempts = v.attempts, due_at = v.due_at, error = v.error
FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[]) AS v (webhook, number, state, attempts, due_at, error)
WHERE p.webhook = v.webhook AND p.number = v.number;

-- name: delete_webhook_post
DELETE FROM webhook_posts p USING unnest($1::text[], $2::bigint[]) AS v (webhook, number) WHERE p.webhook = v.webhook AND p.number = v.number;

-- name: delete_webhook_posts
DELETE FROM webhook_posts WHERE webhook = ANY ($1::text[]);

-- name: resume_webhook_posts
UPDATE webhook_posts p SET state = 'waiting', attempts = 0, due_at = v.at, created_at = v.at, error = NULL
FROM unnest($1::text[], $2::bigint[]) AS v (webhook, at) WHERE p.webhook = v.webhook;

-- name: webhook_sessions
SELECT message_id::text, mailbox, sender, session_id::text FROM deliveries
WHERE message_id = ANY (:ids::uuid[]) AND (mailbox = ANY (:agents::text[]) OR sender = ANY (:agents::text[]));

-- name: webhook_messages
SELECT id::text, body FROM messages WHERE id = ANY (:ids::uuid[]);
