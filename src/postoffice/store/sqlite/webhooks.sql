-- Webhooks, and the events on their way to them, on SQLite.

-- name: webhook
SELECT {webhook_row} FROM webhooks WHERE name = ?1;

-- name: put_webhook
INSERT INTO webhooks (name, id, url, secrets, kinds, agents, shape, bodies, state, since, error, place, counted, created_at, delivered_at, notify)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
ON CONFLICT (name) DO UPDATE SET id = excluded.id, url = excluded.url, secrets = excluded.secrets, kinds = excluded.kinds, agents = excluded.agents, shape = excluded.shape, bodies = excluded.bodies, state = excluded.state, since = excluded.since, error = excluded.error, place = excluded.place, counted = excluded.counted, created_at = excluded.created_at, delivered_at = excluded.delivered_at, notify = excluded.notify;

-- name: delete_webhook
DELETE FROM webhooks WHERE name = ?1;

-- name: webhook_post
SELECT created_at, state FROM webhook_posts WHERE webhook = ?1 AND number = ?2;

-- name: add_webhook_post
INSERT INTO webhook_posts (webhook, number, id, line, body, state, attempts, due_at, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: update_webhook_post
UPDATE webhook_posts SET state = ?3, attempts = ?4, due_at = ?5, error = ?6 WHERE webhook = ?1 AND number = ?2;

-- name: delete_webhook_post
DELETE FROM webhook_posts WHERE webhook = ?1 AND number = ?2;

-- name: delete_webhook_posts
DELETE FROM webhook_posts WHERE webhook = ?1;

-- name: resume_webhook_posts
UPDATE webhook_posts SET state = 'waiting', attempts = 0, due_at = ?2, created_at = ?2, error = NULL WHERE webhook = ?1;

-- name: webhook_sessions
SELECT message_id, mailbox, sender, session_id FROM deliveries
WHERE message_id IN (SELECT value FROM json_each(:ids))
  AND (mailbox IN (SELECT value FROM json_each(:agents)) OR sender IN (SELECT value FROM json_each(:agents)));

-- name: webhook_messages
SELECT id, body FROM messages WHERE id IN (SELECT value FROM json_each(:ids));
