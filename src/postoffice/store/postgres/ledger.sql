-- The ledger: accounts, topics, posts, records, on PostgreSQL.

-- name: ledger_accounts
SELECT agent, account_id, inbound_topic_id, outbound_topic_id FROM ledger_accounts;

-- name: ledger_connections
SELECT topic_id, agent, about FROM ledger_topics WHERE kind = 'connection' ORDER BY created_at DESC, topic_id;

-- name: put_ledger_account
INSERT INTO ledger_accounts (agent, account_id, inbound_topic_id, outbound_topic_id, profile, created_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
ON CONFLICT (agent) DO UPDATE SET account_id = excluded.account_id, inbound_topic_id = excluded.inbound_topic_id,
  outbound_topic_id = excluded.outbound_topic_id, profile = coalesce(excluded.profile, ledger_accounts.profile);

-- name: watched_topic
SELECT kind, agent, about FROM ledger_topics WHERE topic_id = ANY ($1::text[]);

-- name: put_ledger_topic
INSERT INTO ledger_topics (topic_id, kind, agent, about, created_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
ON CONFLICT (topic_id) DO UPDATE SET kind = excluded.kind, agent = excluded.agent, about = excluded.about, created_at = excluded.created_at;

-- name: add_post
INSERT INTO ledger_outbox (id, topic_id, memo, payer, body, message_id, mailbox, state, attempts, due_at, created_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[])
ON CONFLICT (id) DO NOTHING;

-- name: signed_post
SELECT signed FROM ledger_outbox WHERE id = ANY ($1::text[]) AND state = 'waiting';

-- name: sign_post
UPDATE ledger_outbox o SET signed = v.signed FROM unnest($1::text[], $2::text[]) AS v (id, signed) WHERE o.id = v.id;

-- name: settle_post
UPDATE ledger_outbox o SET state = v.state, attempts = o.attempts + 1, due_at = v.due_at, error = v.error
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS v (id, state, due_at, error) WHERE o.id = v.id AND o.state <> 'confirmed';

-- name: confirm_post
UPDATE ledger_outbox o SET state = 'confirmed', error = NULL, signed = NULL
FROM unnest($1::text[], $2::text[]) AS v (message_id, mailbox) WHERE o.message_id = v.message_id AND o.mailbox IS NOT DISTINCT FROM v.mailbox;

-- name: purged_by
-- Who sent a message that went to a mailbox over the ledger and is purged by now.
SELECT t.sender FROM tombstones t JOIN ledger_outbox o ON o.message_id = CAST(t.message_id AS text)
WHERE t.message_id = ANY ($1::uuid[]) AND o.mailbox = ANY ($2::text[]);

-- name: recorded_ahead
-- What was taken of a topic after its cursor.
SELECT r.sequence FROM ledger_records r LEFT JOIN cursors c ON c.name = 'ledger:' || r.topic_id
WHERE r.topic_id = ANY ($1::text[]) AND r.sequence > coalesce(CAST(c.value AS bigint), 0);

-- name: add_ledger_record
INSERT INTO ledger_records (topic_id, sequence, payer, at, verdict, message_id, reason, body, seen_at)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[])
ON CONFLICT DO NOTHING;
