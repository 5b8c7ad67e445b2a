-- What a group of acts asks of SQLite. One writer holds the file, so nothing here takes locks.

-- Where a mailbox's news and a session's lines stand is put into their indexes some hundred rows at a time: one by one, nearly each would change a
-- page of its own, and those were more than half of what a commit had to write. What is not filed yet, at the end of its table, is looked through.

-- part: filed_news
(SELECT CAST(value AS INTEGER) FROM cursors WHERE name = 'filed_news')

-- part: filed_mail
(SELECT CAST(value AS INTEGER) FROM cursors WHERE name = 'filed_mail')

-- part: news_of_agent
(SELECT * FROM (SELECT * FROM events WHERE mailbox = :agent AND number > :after AND filed = 1 ORDER BY number LIMIT :limit)
 UNION ALL SELECT * FROM events WHERE n > {filed_news} AND filed = 0 AND mailbox = :agent AND number > :after)

-- part: lines_of_shown
(SELECT f.session_id, f.session_number, f.mailbox, f.state, f.message_id, f.due_at FROM shown t CROSS JOIN deliveries f
 WHERE f.session_id = t.id AND f.session_number > t.counted - :lines AND f.filed = 1
 UNION ALL
 SELECT u.session_id, u.session_number, u.mailbox, u.state, u.message_id, u.due_at FROM deliveries u CROSS JOIN shown t
 WHERE u.id > {filed_mail} AND u.filed = 0 AND u.session_id = t.id AND u.session_number > t.counted - :lines)

-- name: file_news
UPDATE events SET filed = 1 WHERE n > {filed_news} AND filed = 0;

-- name: file_mail
UPDATE deliveries SET filed = 1 WHERE id > {filed_mail} AND filed = 0;

-- name: note_filed
UPDATE cursors SET value = CAST(coalesce(CASE name WHEN 'filed_news' THEN (SELECT max(n) FROM events) ELSE (SELECT max(id) FROM deliveries) END, 0) AS TEXT)
WHERE name IN ('filed_news', 'filed_mail');

-- name: last_delivery_id
-- None is given again, though the last were purged: it would pass for filed.
SELECT max(coalesce((SELECT max(id) FROM deliveries), 0), {filed_mail});

-- part: readable
-- By whoever is no part of a session it is read only where that one is the owner, who is named by nothing.
({let_through} OR d.mailbox <> ?4) AND (?4 = '' OR EXISTS (SELECT 1 FROM sessions s WHERE s.id = ?1 AND ?4 IN (s.low, s.high)))

-- part: is_note
-- Here LIKE would take capitals for small letters.
m.type GLOB '*.note'

-- name: now
SELECT office_now();

-- name: mail
SELECT {bare_delivery} FROM deliveries d WHERE d.message_id = ?1 AND d.mailbox = ?2;

-- name: mail_and_bodies
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id WHERE d.message_id = ?1 AND d.mailbox = ?2;

-- name: mail_by_client_id
SELECT {delivery} FROM messages m JOIN deliveries d ON d.message_id = m.id
WHERE m.client_id = ?1 AND d.mailbox = ?2;

-- name: due
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.due_at <= office_now()
ORDER BY d.due_at LIMIT ?1;

-- name: waiting
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.state = 'pending'
ORDER BY d.priority, d.number LIMIT ?2;

-- name: waiting_in_session
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.session_id = ?2 AND d.mailbox = ?1 AND d.state = 'pending' AND (?3 IS NULL OR d.correlation_id = ?3)
ORDER BY d.priority, d.number LIMIT ?4;

-- name: waiting_correlated
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.correlation_id = ?2 AND d.state = 'pending'
ORDER BY d.priority, d.number LIMIT ?3;

-- name: waiting_correlated_heads
-- The first of each session that has none in hand, among what is correlated.
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.correlation_id = ?2 AND d.state = 'pending'
  AND (d.session_id IS NULL
       OR (NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.session_id = d.session_id AND l.mailbox = d.mailbox AND l.state = 'leased'
                          AND (l.due_at IS NULL OR l.due_at > office_now()))
           AND NOT EXISTS (SELECT 1 FROM deliveries e
                           WHERE e.mailbox = d.mailbox AND e.correlation_id = d.correlation_id AND e.state = 'pending'
                             AND e.session_id = d.session_id AND (e.priority, e.number) < (d.priority, d.number))))
ORDER BY d.priority, d.number LIMIT ?3;

-- name: waiting_heads
-- The first message of each session that has none in hand.
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.state = 'pending'
  AND (d.session_id IS NULL
       OR (NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.session_id = d.session_id AND l.mailbox = d.mailbox AND l.state = 'leased')
           AND NOT EXISTS (SELECT 1 FROM deliveries e
                           WHERE e.session_id = d.session_id AND e.mailbox = d.mailbox AND e.state = 'pending'
                             AND (e.priority, e.number) < (d.priority, d.number))))
ORDER BY d.priority, d.number LIMIT ?2;

-- name: in_hand
SELECT mailbox, session_id FROM deliveries
WHERE mailbox = ?1 AND session_id = ?2 AND state = 'leased' AND (due_at IS NULL OR due_at > office_now());

-- name: lines
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.id IN (
  SELECT id FROM (SELECT d.id FROM deliveries d WHERE d.session_id = ?1 AND d.session_number < ?2 AND d.filed = 1 AND {readable} ORDER BY d.session_number DESC LIMIT ?3)
  UNION ALL SELECT d.id FROM deliveries d WHERE d.id > {filed_mail} AND d.filed = 0 AND d.session_id = ?1 AND d.session_number < ?2 AND {readable})
ORDER BY d.session_number DESC LIMIT ?3;

-- name: held_in
-- Of a session and one of its agents: how much is held, how much of it since it was sent, and when that agent was last told something.
SELECT count(*), coalesce(sum(CASE WHEN due_at IS NULL THEN 1 ELSE 0 END), 0), (
  SELECT max(created_at) FROM (
    SELECT created_at FROM (SELECT d.created_at FROM deliveries d WHERE d.session_id = ?1 AND d.filed = 1 AND ({let_through} OR d.mailbox <> ?2)
                            ORDER BY d.session_number DESC LIMIT 1)
    UNION ALL SELECT d.created_at FROM deliveries d
    WHERE d.id > {filed_mail} AND d.filed = 0 AND d.session_id = ?1 AND ({let_through} OR d.mailbox <> ?2)))
FROM deliveries WHERE mailbox = ?2 AND state = 'held' AND session_id = ?1;

-- name: everyone
SELECT agent FROM agents;

-- part: versions
-- One process owns the file: nobody else can have written a row.
0, 0

-- part: boxes
SELECT {agent}, {versions}, office_now() FROM agents a JOIN mailboxes b ON b.agent = a.agent WHERE a.agent = ?1

-- name: boxes
{boxes};

-- name: boxes_and_agents
{boxes};

-- name: sessions_by_id
SELECT {session}
FROM sessions WHERE id = ?1;

-- name: sessions_by_key
SELECT {session}
FROM sessions WHERE low = ?1 AND high = ?2 AND subject_key = ?3;

-- name: connected
SELECT ?1, ?2, assurance FROM connections
WHERE status = 'ACTIVE' AND ((requester = ?1 AND target = ?2) OR (requester = ?2 AND target = ?1));

-- name: dedupe
SELECT sender, addressee, client_id, fingerprint, answer FROM dedupe WHERE sender = ?1 AND addressee = ?2 AND client_id = ?3;

-- name: tasks_by_ref
SELECT {task}
FROM tasks WHERE message_id = ?1
UNION
SELECT {task}
FROM tasks WHERE id = ?1;

-- name: under_way
SELECT assignee, count(*) FROM tasks WHERE assignee = ?1 AND state IN ('accepted', 'working') GROUP BY assignee;

-- name: connections_by_id
SELECT {connection} FROM connections WHERE id = ?1;

-- name: connections_by_code
SELECT {connection}
FROM connections WHERE code = ?1 AND status = 'PENDING'
UNION ALL
-- What was approved a moment ago, for whoever missed the answer.
SELECT {connection}
FROM connections WHERE code = ?1 AND status = 'ACTIVE';

-- name: requests_of
-- Everybody's name is more than nothing: said so, both halves are found by the indexes of what waits.
SELECT {connection}
FROM connections WHERE status = 'PENDING' AND ((requester = ?1 AND target > '') OR target = ?1);

-- name: keys_of
SELECT hash, agent, prefix, created_at, expires_at, revoked_at FROM keys
WHERE agent = ?1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > office_now());

-- name: limits
SELECT bucket, begun_at, count FROM limits WHERE bucket = ?1;

-- name: entities
SELECT id, type, notes, created_at FROM entities WHERE id = ?1;

-- name: role
SELECT holder, until FROM roles WHERE role = ?1;

-- part: searched
CAST(coalesce((SELECT value FROM cursors WHERE name = 'search'), '0') AS INTEGER)

-- name: unindexed
SELECT CAST(e.n AS TEXT), m.body
FROM events e LEFT JOIN messages m ON m.id = e.ref AND e.kind IN ('new_message', 'note')
WHERE e.n > {searched}
ORDER BY e.n LIMIT ?1;

-- name: add_agent
INSERT INTO agents (agent, name, id, card, has_key, acted, created_at, last_seen) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: add_mailbox
INSERT INTO mailboxes (agent, counted, held, pending, leased, dead, waiting_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: update_agent
UPDATE agents SET card = ?2, has_key = ?3, acted = ?4, last_seen = ?5 WHERE agent = ?1;

-- name: update_mailbox
UPDATE mailboxes SET counted = ?2, held = ?3, pending = ?4, leased = ?5, dead = ?6, waiting_bytes = ?7 WHERE agent = ?1;

-- name: add_session
INSERT INTO sessions (id, low, high, subject, subject_key, counted, unread_low, unread_high, replies_left, created_at, last_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- name: update_session
UPDATE sessions SET counted = ?2, unread_low = ?3, unread_high = ?4, replies_left = ?5, last_at = ?6
WHERE id = ?1;

-- name: update_unread
UPDATE sessions SET unread_low = ?2, unread_high = ?3 WHERE id = ?1;

-- name: add_message
INSERT INTO messages (id, sender, client_id, type, ref_id, created_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: add_delivery
INSERT INTO deliveries (id, message_id, mailbox, number, priority, state, sender, type, session_id, session_number, correlation_id, created_at,
                        settled_at, size, filed)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0);

-- name: update_delivery
UPDATE deliveries SET state = ?2, attempts = ?3, token = ?4, tokenless = ?5, due_at = ?6, leased_at = ?7, settled_at = ?8, reason = ?9
WHERE id = ?1;

-- name: add_event
INSERT INTO events (mailbox, number, kind, ref, data, at, filed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0);

-- name: add_dedupe
INSERT INTO dedupe (sender, addressee, client_id, fingerprint, answer, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: add_task
INSERT INTO tasks (message_id, id, requester, assignee, state, subject, session_id, deadline, callback, steps, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11);

-- name: update_task
UPDATE tasks SET state = ?2, overdue = ?3, steps = ?4, updated_at = ?5 WHERE message_id = ?1;

-- name: put_entity
INSERT INTO entities (id, type, notes, created_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (id) DO UPDATE SET notes = excluded.notes, last_at = excluded.last_at;

-- name: put_connection
INSERT INTO connections (id, requester, target, status, code, note, assurance, created_at, updated_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, assurance = excluded.assurance, updated_at = excluded.updated_at;

-- name: put_key
INSERT INTO keys (hash, agent, prefix, created_at, expires_at, revoked_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at;

-- name: put_limit
INSERT INTO limits (bucket, begun_at, count) VALUES (?1, ?2, ?3)
ON CONFLICT (bucket) DO UPDATE SET begun_at = excluded.begun_at, count = excluded.count;

-- name: put_role
INSERT INTO roles (role, holder, until) VALUES (?1, ?2, ?3)
ON CONFLICT (role) DO UPDATE SET holder = excluded.holder, until = excluded.until;

-- name: put_cursor
INSERT INTO cursors (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: add_search
INSERT OR REPLACE INTO search (rowid, text) SELECT n, ?2 FROM messages WHERE id = ?1;

-- name: add_tombstone
INSERT INTO tombstones (message_id, sender, purged_at) VALUES (?1, ?2, ?3);

-- name: delete_search
DELETE FROM search WHERE rowid = (SELECT n FROM messages WHERE id = ?1);

-- name: delete_deliveries
DELETE FROM deliveries WHERE message_id = ?1;

-- name: delete_task
DELETE FROM tasks WHERE message_id = ?1;

-- name: delete_message
DELETE FROM messages WHERE id = ?1;

-- name: forget_dedupe
DELETE FROM dedupe WHERE sender = ?1 AND addressee = ?2 AND client_id = ?3 AND at = ?4;

-- name: forget_limits
DELETE FROM limits WHERE begun_at < ?1;

-- name: forget_event
DELETE FROM events WHERE mailbox = ?1 AND n = ?2;

-- part: looked_for
{reader}
  AND (:sender IS NULL OR m.sender = :sender)
  AND (:recipient IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.mailbox = :recipient))
  AND (:session IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND +d.session_id = :session))
  AND (:type IS NULL OR m.type = :type)
  AND (:since IS NULL OR m.created_at >= :since)
  AND (:until IS NULL OR m.created_at < :until)

-- name: search
-- Newest first, in the index's own order, so that a word that everybody uses costs no more than any other.
-- The next page begins where the last one ended; a session is not looked through for each message.
-- In a long text that says a word thousands of times nobody looks for the best place to quote: that would take seconds.
SELECT m.body, CASE WHEN length(search.text) <= 20000 THEN snippet(search, 0, '', '', '…', 24) ELSE substr(search.text, 1, 200) || '…' END
FROM search JOIN messages m ON m.n = search.rowid
WHERE search MATCH :query
  AND {looked_for}
  AND m.id < :before AND search.rowid <= coalesce((SELECT n FROM messages WHERE id = :before), (SELECT max(n) FROM messages))
ORDER BY search.rowid DESC LIMIT :limit;

-- name: all_events
SELECT mailbox, number, kind, ref, data, at, CAST(n AS TEXT) FROM events WHERE n > CAST(:after AS INTEGER) ORDER BY n LIMIT :limit;

-- name: old_events
-- Where the log begins: to look for old news everywhere would take as long as the log is. The newest stays, so that its numbers never start again.
-- So does what is not indexed yet: the index is made from it.
SELECT mailbox, n FROM (SELECT n, mailbox, at FROM events ORDER BY n LIMIT :limit) AS first
WHERE at < office_now() - :age AND n < (SELECT max(n) FROM events) AND n <= {searched};

-- name: last_event
SELECT CAST(coalesce(max(n), 0) AS TEXT) FROM events;

-- name: look
SELECT agent, pending, counted FROM mailboxes WHERE agent IN (SELECT value FROM json_each(:agents));

-- name: visit
-- With the end of the first of its agent's keys to end, if one of them does.
SELECT agent, kind, expires_at, (SELECT min(k.expires_at) FROM keys k WHERE k.agent = v.agent AND k.revoked_at IS NULL AND k.expires_at > office_now())
FROM visits v WHERE hash = ?1;

-- name: add_visit
INSERT INTO visits (hash, agent, kind, expires_at) VALUES (?1, ?2, ?3, ?4);

-- name: delete_visit
DELETE FROM visits WHERE hash = ?1;

-- name: end_visits_of
UPDATE visits SET expires_at = ?2 WHERE agent = ?1 AND expires_at > ?2;

-- name: forget_visits
DELETE FROM visits WHERE expires_at < ?1;

-- name: ledger_accounts
SELECT agent, account_id, inbound_topic_id, outbound_topic_id FROM ledger_accounts;

-- name: ledger_connections
SELECT topic_id, agent, about FROM ledger_topics WHERE kind = 'connection' ORDER BY created_at DESC, topic_id;

-- name: cursor
SELECT value FROM cursors WHERE name = ?1;

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

-- name: sender_of
SELECT sender FROM messages WHERE id = ?1;

-- name: recorded_ahead
-- What was taken of a topic after its cursor.
SELECT sequence FROM ledger_records
WHERE topic_id = ?1 AND sequence > coalesce((SELECT CAST(value AS integer) FROM cursors WHERE name = 'ledger:' || ?1), 0);

-- name: add_ledger_record
INSERT INTO ledger_records (topic_id, sequence, payer, at, verdict, message_id, reason, body, seen_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING;
