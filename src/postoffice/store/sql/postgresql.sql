-- What a group of acts asks of PostgreSQL: each statement takes the keys or rows of the whole group as arrays.
-- The order of locks is the group's (store/group.py): deliveries by id, then whatever is free, then mailboxes by name.

-- part: news_of_agent
events

-- part: lines_of_shown
deliveries

-- part: is_note
m.type LIKE '%.note'

-- name: has_schema
SELECT to_regclass('alembic_version') IS NOT NULL;

-- name: schema_version
SELECT version_num FROM alembic_version;

-- name: committing_session
-- Accepted means durable, whatever the database's default; a stricter one stays. And no transaction lasts for ever: a process that stands
-- still between two words of a statement is not idle to PostgreSQL, which can end it all the same since version 17.
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
UNION ALL
SELECT set_config('transaction_timeout', '{longest}', false) WHERE current_setting('server_version_num')::int >= 170000;

-- name: committing_transaction
SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'
UNION ALL
SELECT set_config('transaction_timeout', '{longest}', true) WHERE current_setting('server_version_num')::int >= 170000;

-- name: now
SELECT office_now();

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

-- name: due
-- The time is asked for once: compared with a function that may say something else for each row, no index is of use.
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.due_at <= (SELECT office_now())
ORDER BY d.due_at LIMIT (SELECT max(k) FROM unnest($1::bigint[]) AS k) FOR UPDATE OF d SKIP LOCKED;

-- name: waiting
SELECT {delivery} FROM unnest($1::text[], $2::bigint[]) AS k (mailbox, most)
CROSS JOIN LATERAL (
  SELECT * FROM deliveries w WHERE w.mailbox = k.mailbox AND w.state = 'pending'
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_in_session
SELECT {delivery} FROM unnest($1::text[], $2::uuid[], $3::text[], $4::bigint[]) AS k (mailbox, session_id, correlation_id, most)
CROSS JOIN LATERAL (
  SELECT * FROM deliveries w WHERE w.session_id = k.session_id AND w.mailbox = k.mailbox AND w.state = 'pending'
    AND (k.correlation_id IS NULL OR w.correlation_id = k.correlation_id)
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_correlated
SELECT {delivery} FROM unnest($1::text[], $2::text[], $3::bigint[]) AS k (mailbox, correlation_id, most)
CROSS JOIN LATERAL (
  SELECT * FROM deliveries w WHERE w.mailbox = k.mailbox AND w.correlation_id = k.correlation_id AND w.state = 'pending'
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_correlated_heads
-- The first of each session that has none in hand, among what is correlated.
SELECT {delivery} FROM unnest($1::text[], $2::text[], $3::bigint[]) AS k (mailbox, correlation_id, most)
CROSS JOIN LATERAL (
  SELECT w.* FROM deliveries w
  WHERE w.mailbox = k.mailbox AND w.correlation_id = k.correlation_id AND w.state = 'pending'
    AND (w.session_id IS NULL
         OR (NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.session_id = w.session_id AND l.mailbox = w.mailbox AND l.state = 'leased'
                            AND (l.due_at IS NULL OR l.due_at > office_now()))
             AND NOT EXISTS (SELECT 1 FROM deliveries e
                             WHERE e.mailbox = w.mailbox AND e.correlation_id = w.correlation_id AND e.state = 'pending'
                               AND e.session_id = w.session_id AND (e.priority, e.number) < (w.priority, w.number))))
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE OF w SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_heads
-- The first message of each session that has none in hand. Another taker's first one may be locked and not yet leased:
-- it still stands before the others of its session, so none of those is taken for a first.
SELECT {delivery} FROM unnest($1::text[], $2::bigint[]) AS k (mailbox, most)
CROSS JOIN LATERAL (
  SELECT w.* FROM deliveries w
  WHERE w.mailbox = k.mailbox AND w.state = 'pending'
    AND (w.session_id IS NULL
         OR (NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.session_id = w.session_id AND l.mailbox = w.mailbox AND l.state = 'leased')
             AND NOT EXISTS (SELECT 1 FROM deliveries e
                             WHERE e.session_id = w.session_id AND e.mailbox = w.mailbox AND e.state = 'pending'
                               AND (e.priority, e.number) < (w.priority, w.number))))
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE OF w SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: in_hand
SELECT d.mailbox, CAST(d.session_id AS text) FROM unnest($1::text[], $2::uuid[]) AS k (mailbox, session_id)
JOIN deliveries d ON d.session_id = k.session_id AND d.mailbox = k.mailbox AND d.state = 'leased'
WHERE d.due_at IS NULL OR d.due_at > office_now();

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
CROSS JOIN LATERAL (SELECT count(*) AS held, count(*) FILTER (WHERE w.due_at IS NULL) AS hidden FROM deliveries w
                    WHERE w.mailbox = k.mailbox AND w.state = 'held' AND w.session_id = k.session_id) AS h;

-- name: everyone
SELECT agent FROM agents;

-- part: versions
-- Whichever transaction wrote a row last: while it is the same, so is the row.
b.xmin::text::bigint, a.xmin::text::bigint

-- part: boxes
SELECT {agent}, {versions}, office_now() FROM mailboxes b JOIN agents a ON a.agent = b.agent
WHERE b.agent = ANY ($1::text[]) ORDER BY b.agent

-- name: boxes
{boxes} FOR UPDATE OF b;

-- name: boxes_and_agents
-- Of two rows read together only the one that is locked is as new as its lock, where that was waited for.
{boxes} FOR UPDATE OF b FOR NO KEY UPDATE OF a;

-- name: still_at_hand
-- What is remembered is locked in the order in which it would be loaded. Mail that others hold is not waited for: they may wait for these mailboxes.
WITH mail AS (SELECT 1 FROM deliveries WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE SKIP LOCKED),
boxes AS (SELECT b.agent, {versions} FROM mailboxes b JOIN agents a ON a.agent = b.agent WHERE b.agent = ANY ($2::text[]) ORDER BY b.agent FOR UPDATE OF b)
SELECT NULL, count(*), office_now() FROM mail UNION ALL SELECT * FROM boxes;

-- name: sessions_by_id
SELECT {session} FROM sessions WHERE id = ANY ($1::uuid[]);

-- name: sessions_by_key
SELECT {session} FROM unnest($1::text[], $2::text[], $3::text[]) AS k (k_low, k_high, k_subject)
JOIN sessions ON low = k_low AND high = k_high AND subject_key = k_subject;

-- name: connected
SELECT k.low, k.high, c.assurance FROM unnest($1::text[], $2::text[]) AS k (low, high)
JOIN connections c ON c.status = 'ACTIVE'
  AND ((c.requester = k.low AND c.target = k.high) OR (c.requester = k.high AND c.target = k.low));

-- name: dedupe
SELECT d.sender, d.addressee, d.client_id, d.fingerprint, d.answer
FROM unnest($1::text[], $2::text[], $3::text[]) AS k (sender, addressee, client_id)
JOIN dedupe d ON d.sender = k.sender AND d.client_id = k.client_id AND md5(d.addressee) = md5(k.addressee);

-- name: tasks_by_ref
SELECT {task} FROM tasks WHERE message_id = ANY (ARRAY(SELECT office_id(k) FROM unnest($1::text[]) AS k)) OR id = ANY ($1::text[]);

-- name: under_way
SELECT assignee, count(*) FROM tasks WHERE assignee = ANY ($1::text[]) AND state IN ('accepted', 'working') GROUP BY assignee;

-- name: connections_by_id
SELECT {connection} FROM connections WHERE id = ANY ($1::uuid[]);

-- name: connections_by_code
SELECT {connection} FROM connections WHERE code = ANY ($1::text[]) AND status = 'PENDING'
UNION ALL
-- What was approved a moment ago, for whoever missed the answer.
SELECT {connection} FROM connections WHERE code = ANY ($1::text[]) AND status = 'ACTIVE';

-- name: requests_of
SELECT {connection} FROM connections WHERE status = 'PENDING' AND (requester = ANY ($1::text[]) OR target = ANY ($1::text[]));

-- name: keys_of
SELECT hash, agent, prefix, created_at, expires_at, revoked_at FROM keys
WHERE agent = ANY ($1::text[]) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > office_now());

-- name: limits
SELECT bucket, begun_at, count FROM limits WHERE bucket = ANY ($1::text[]) ORDER BY bucket FOR UPDATE;

-- name: entities
SELECT id, type, notes, created_at FROM entities WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE;

-- name: role
SELECT holder, until FROM roles WHERE role = ANY ($1::text[]);

-- part: searched
split_part(c, '.', 1)::xid8, split_part(c, '.', 2)::bigint FROM (SELECT coalesce((SELECT value FROM cursors WHERE name = 'search'), '0.0') AS c) AS cursor

-- name: unindexed
SELECT e.tx::text || '.' || e.n, m.body
FROM events e LEFT JOIN messages m ON m.id = office_id(e.ref) AND e.kind IN ('new_message', 'note')
WHERE (e.tx, e.n) > (SELECT {searched})
  AND e.tx < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY e.tx, e.n LIMIT (SELECT max(k) FROM unnest($1::bigint[]) AS k);

-- name: bytes_kept
-- What tables and their indexes take on the disk.
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r';

-- name: adopt_log
-- A log that comes from another server, by a backup, is numbered by that server's transactions: where they are to come here yet, what
-- happens next would stand before what has happened. All of it becomes older than anything of this server's, and is indexed again.
WITH strange AS (SELECT 1 FROM events WHERE tx >= pg_snapshot_xmax(pg_current_snapshot()) LIMIT 1),
     again AS (UPDATE cursors SET value = '0.0' WHERE name = 'search' AND EXISTS (SELECT 1 FROM strange))
UPDATE events SET tx = '0' WHERE EXISTS (SELECT 1 FROM strange);

-- name: add_agent
INSERT INTO agents (agent, name, id, card, has_key, acted, created_at, last_seen)
SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::boolean[], $6::boolean[], $7::bigint[], $8::bigint[]);

-- name: add_mailbox
INSERT INTO mailboxes (agent, counted, held, pending, leased, dead, waiting_bytes)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]);

-- name: update_agent
UPDATE agents a SET card = v.card, has_key = v.has_key, acted = v.acted, last_seen = v.last_seen
FROM unnest($1::text[], $2::text[], $3::boolean[], $4::boolean[], $5::bigint[]) AS v (agent, card, has_key, acted, last_seen)
WHERE a.agent = v.agent;

-- name: update_mailbox
UPDATE mailboxes b SET counted = v.counted, held = v.held, pending = v.pending, leased = v.leased, dead = v.dead,
                       waiting_bytes = v.waiting_bytes
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
  AS v (agent, counted, held, pending, leased, dead, waiting_bytes)
WHERE b.agent = v.agent;

-- name: add_session
INSERT INTO sessions (id, low, high, subject, subject_key, counted, unread_low, unread_high, replies_left, created_at, last_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
                     $10::bigint[], $11::bigint[]);

-- name: update_session
UPDATE sessions s SET counted = v.counted, unread_low = v.unread_low, unread_high = v.unread_high, replies_left = v.replies_left, last_at = v.last_at
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
  AS v (id, counted, unread_low, unread_high, replies_left, last_at)
WHERE s.id = v.id;

-- name: update_unread
UPDATE sessions s SET unread_low = v.unread_low, unread_high = v.unread_high
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS v (id, unread_low, unread_high)
WHERE s.id = v.id;

-- name: add_message
INSERT INTO messages (id, sender, client_id, type, ref_id, created_at, body)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::json[]);

-- name: add_delivery
INSERT INTO deliveries (id, message_id, mailbox, number, priority, state, sender, type, session_id, session_number, correlation_id, created_at,
                        settled_at, size)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::uuid[],
                     $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[]);

-- name: update_delivery
UPDATE deliveries d SET state = v.state, attempts = v.attempts, token = v.token, tokenless = v.tokenless, due_at = v.due_at,
                        leased_at = v.leased_at, settled_at = v.settled_at, reason = v.reason
FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::boolean[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[])
  AS v (id, state, attempts, token, tokenless, due_at, leased_at, settled_at, reason)
WHERE d.id = v.id;

-- name: add_event
INSERT INTO events (mailbox, number, kind, ref, data, at)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[]);

-- name: add_dedupe
INSERT INTO dedupe (sender, addressee, client_id, fingerprint, answer, at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[]);

-- name: add_task
INSERT INTO tasks (message_id, id, requester, assignee, state, subject, session_id, deadline, callback, steps, created_at, updated_at)
SELECT v.*, v.created_at FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::bigint[],
                                     $9::text[], $10::text[], $11::bigint[])
  AS v (message_id, id, requester, assignee, state, subject, session_id, deadline, callback, steps, created_at);

-- name: update_task
UPDATE tasks t SET state = v.state, overdue = v.overdue, steps = v.steps, updated_at = v.updated_at
FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::text[], $5::bigint[]) AS v (message_id, state, overdue, steps, updated_at)
WHERE t.message_id = v.message_id;

-- name: put_entity
INSERT INTO entities (id, type, notes, created_at, last_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
ON CONFLICT (id) DO UPDATE SET notes = excluded.notes, last_at = excluded.last_at;

-- name: put_connection
INSERT INTO connections (id, requester, target, status, code, note, assurance, created_at, updated_at, expires_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[])
ON CONFLICT (id) DO UPDATE SET status = excluded.status, assurance = excluded.assurance, updated_at = excluded.updated_at;

-- name: put_key
INSERT INTO keys (hash, agent, prefix, created_at, expires_at, revoked_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at;

-- name: put_limit
INSERT INTO limits (bucket, begun_at, count) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
ON CONFLICT (bucket) DO UPDATE SET begun_at = excluded.begun_at, count = excluded.count;

-- name: put_role
INSERT INTO roles (role, holder, until) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
ON CONFLICT (role) DO UPDATE SET holder = excluded.holder, until = excluded.until;

-- name: put_cursor
INSERT INTO cursors (name, value) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: add_search
INSERT INTO search (message_id, text) SELECT * FROM unnest($1::uuid[], $2::text[]) ON CONFLICT (message_id) DO NOTHING;

-- name: add_tombstone
INSERT INTO tombstones (message_id, sender, purged_at) SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[]);

-- name: delete_search
DELETE FROM search WHERE message_id = ANY ($1::uuid[]);

-- name: delete_deliveries
DELETE FROM deliveries WHERE message_id = ANY ($1::uuid[]);

-- name: delete_task
DELETE FROM tasks WHERE message_id = ANY ($1::uuid[]);

-- name: delete_message
DELETE FROM messages WHERE id = ANY ($1::uuid[]);

-- name: forget_dedupe
DELETE FROM dedupe d USING unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS k (sender, addressee, client_id, at)
WHERE d.sender = k.sender AND d.client_id = k.client_id AND md5(d.addressee) = md5(k.addressee) AND d.at = k.at;

-- name: forget_limits
DELETE FROM limits WHERE begun_at < ANY ($1::bigint[]);

-- name: forget_event
DELETE FROM events e USING unnest($1::text[], $2::bigint[]) AS k (mailbox, number) WHERE e.mailbox = k.mailbox AND e.number = k.number;

-- part: looked_for
{reader}
  AND (:sender::text IS NULL OR m.sender = :sender)
  AND (:recipient::text IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.mailbox = :recipient))
  AND (:session::uuid IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.session_id = :session))
  AND (:type::text IS NULL OR m.type = :type)
  AND (:since::bigint IS NULL OR m.created_at >= :since)
  AND (:until::bigint IS NULL OR m.created_at < :until)

-- name: search
-- Newest first. A word that everybody uses is found among what was said last; a word that is not found there often enough is found by its index,
-- which knows no order: all that it finds has to be put in order before the first of it can be shown.
WITH last AS MATERIALIZED (
  SELECT message_id, words FROM search WHERE message_id < :before ORDER BY message_id DESC LIMIT 1000
), near AS MATERIALIZED (
  SELECT m.id FROM (SELECT message_id FROM last WHERE words @@ to_tsquery('simple', :query) ORDER BY message_id DESC) AS s
  JOIN messages m ON m.id = s.message_id WHERE {looked_for}
  ORDER BY m.id DESC LIMIT :limit
), said AS MATERIALIZED (
  SELECT message_id FROM search WHERE words @@ to_tsquery('simple', :query) AND (SELECT count(*) FROM near) < :limit
), far AS MATERIALIZED (
  SELECT m.id FROM (SELECT message_id FROM said WHERE message_id < (SELECT message_id FROM last ORDER BY message_id LIMIT 1)
                    ORDER BY message_id DESC) AS s
  JOIN messages m ON m.id = s.message_id WHERE {looked_for}
  ORDER BY m.id DESC LIMIT :limit
)
SELECT m.body, ts_headline('simple', left(s.text, 20000), to_tsquery('simple', :query), 'StartSel="",StopSel="",MaxWords=24,MinWords=8')
FROM (SELECT id FROM near UNION ALL SELECT id FROM far) AS found JOIN search s ON s.message_id = found.id JOIN messages m ON m.id = found.id
ORDER BY m.id DESC LIMIT :limit;

-- name: all_events
SELECT mailbox, number, kind, ref, data, at, tx::text || '.' || n FROM events
WHERE (tx, n) > (split_part(:after::text, '.', 1)::xid8, coalesce(nullif(split_part(:after::text, '.', 2), ''), '0')::bigint)
  AND tx < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY tx, n LIMIT :limit;

-- name: old_events
-- Where the log begins: to look for old news everywhere would take as long as the log is. The newest stays, to tell where the log stands.
-- So does what is not indexed yet: the index is made from it.
SELECT mailbox, number FROM (SELECT tx, n, mailbox, number, at FROM events ORDER BY tx, n LIMIT :limit) AS first
WHERE at < office_now() - :age AND (tx, n) < (SELECT tx, n FROM events ORDER BY tx DESC, n DESC LIMIT 1)
  AND (tx, n) <= (SELECT {searched});

-- name: last_event
SELECT coalesce((SELECT tx::text || '.' || n FROM events WHERE tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY tx DESC, n DESC LIMIT 1), '0.0');

-- name: look
SELECT agent, pending, counted FROM mailboxes WHERE agent = ANY (:agents::text[]);

-- name: visit
-- With the end of the first of its agent's keys to end, if one of them does.
SELECT agent, kind, expires_at, (SELECT min(k.expires_at) FROM keys k WHERE k.agent = v.agent AND k.revoked_at IS NULL AND k.expires_at > office_now())
FROM visits v WHERE hash = ANY ($1::text[]);

-- name: add_visit
INSERT INTO visits (hash, agent, kind, expires_at) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]);

-- name: delete_visit
DELETE FROM visits WHERE hash = ANY ($1::text[]);

-- name: end_visits_of
UPDATE visits SET expires_at = v.at FROM unnest($1::text[], $2::bigint[]) AS v (agent, at)
WHERE visits.agent = v.agent AND visits.expires_at > v.at;

-- name: forget_visits
DELETE FROM visits WHERE expires_at < ANY ($1::bigint[]);

-- name: ledger_accounts
SELECT agent, account_id, inbound_topic_id, outbound_topic_id FROM ledger_accounts;

-- name: ledger_connections
SELECT topic_id, agent, about FROM ledger_topics WHERE kind = 'connection' ORDER BY created_at DESC, topic_id;

-- name: cursor
SELECT value FROM cursors WHERE name = ANY ($1::text[]);

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

-- name: sender_of
SELECT sender FROM messages WHERE id = ANY ($1::uuid[]);

-- name: recorded_ahead
-- What was taken of a topic after its cursor.
SELECT r.sequence FROM ledger_records r LEFT JOIN cursors c ON c.name = 'ledger:' || r.topic_id
WHERE r.topic_id = ANY ($1::text[]) AND r.sequence > coalesce(CAST(c.value AS bigint), 0);

-- name: add_ledger_record
INSERT INTO ledger_records (topic_id, sequence, payer, at, verdict, message_id, reason, body, seen_at)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[])
ON CONFLICT DO NOTHING;
