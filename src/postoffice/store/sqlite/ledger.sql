-- The ledger: accounts, topics, posts, records, on SQLite.

-- name: ledger_accounts
SELECT agent, account_id, inbound_topic_id, outbound_topic_id FROM ledger_accounts;

-- name: ledger_connections
SELECT topic_id, agent, about FROM ledger_topics WHERE kind = 'connection' ORDER BY created_at DESC, topic_id;

-- name: put_ledger_account
INSERT INTO ledger_accounts (agent, account_id, inbound_topic_id, outbound_topic_id, profile, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (agent) DO UPDATE SET account_id = excluded.account_id, inbound_topic_id = excluded.inbound_topic_id,
  outbound_topic_id = excluded.outbound_topic_id, profile = coalesce(excluded.profile, profile);

-- name: watched_topic
SELECT kind, agent, about FROM ledger_topics WHERE topic_id = ?1;

-- name: put_ledger_topic
INSERT INTO ledger_topics (topic_id, kind, agent, about, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (topic_id) DO UPDATE SET kind = excluded.kind, agent = excluded.agent, about = excluded.about, created_at = excluded.created_at;

-- name: add_post
INSERT INTO ledger_outbox (id, topic_id, memo, payer, body, message_id, mailbox, state, attempts, due_at, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (id) DO NOTHING;

-- name: signed_post
SELECT signed FROM ledger_outbox WHERE id = ?1 AND state = 'waiting';

-- name: sign_post
UPDATE ledger_outbox SET signed = ?2 WHERE id = ?1;

-- name: settle_post
UPDATE ledger_outbox SET state = ?2, attempts = attempts + 1, due_at = ?3, error = ?4 WHERE id = ?1 AND state <> 'confirmed';

-- name: confirm_post
UPDATE ledger_outbox SET state = 'confirmed', error = NULL, signed = NULL WHERE message_id = ?1 AND mailbox IS ?2;

-- name: purged_by
-- Who sent a message that went to a mailbox over the ledger and is purged by now.
SELECT t.sender FROM tombstones t JOIN ledger_outbox o ON o.message_id = t.message_id WHERE t.message_id = ?1 AND o.mailbox = ?2;

-- name: recorded_ahead
-- What was taken of a topic after its cursor.
SELECT sequence FROM ledger_records
WHERE topic_id = ?1 AND sequence > coalesce((SELECT CAST(value AS integer) FROM cursors WHERE name = 'ledger:' || ?1), 0);

-- name: add_ledger_record
INSERT INTO ledger_records (topic_id, sequence, payer, at, verdict, message_id, reason, body, seen_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING;
