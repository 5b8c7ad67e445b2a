-- Column lists and the queries that read without changing anything, the same on both engines.

-- part: delivery
d.id, CAST(d.message_id AS text), d.mailbox, d.number, d.priority, d.state, d.sender, d.type, CAST(d.session_id AS text), d.session_number,
d.correlation_id, d.attempts, d.token, d.tokenless, d.due_at, d.created_at, d.leased_at, d.settled_at, d.reason, d.size, m.client_id, m.body

-- part: bare_delivery
d.id, CAST(d.message_id AS text), d.mailbox, d.number, d.priority, d.state, d.sender, d.type, CAST(d.session_id AS text), d.session_number,
d.correlation_id, d.attempts, d.token, d.tokenless, d.due_at, d.created_at, d.leased_at, d.settled_at, d.reason, d.size

-- part: let_through
-- Held without a time to try again is held since it was sent: until it is released it is nobody's but its sender's.
(d.state <> 'held' OR d.due_at IS NOT NULL)

-- part: session
CAST(id AS text), low, high, subject, subject_key, counted, unread_low, unread_high, replies_left, created_at, last_at

-- part: connection
CAST(id AS text), requester, target, status, code, note, assurance, created_at, updated_at, expires_at

-- part: named_connection
CAST(c.id AS text), c.requester, c.target, c.status, c.code, c.note, c.assurance, c.created_at, c.updated_at, c.expires_at, r.name, t.name
FROM connections c JOIN agents r ON r.agent = c.requester JOIN agents t ON t.agent = c.target

-- part: task
CAST(message_id AS text), id, requester, assignee, state, subject, CAST(session_id AS text), deadline, overdue, callback, steps, created_at, updated_at

-- part: agent
a.agent, a.name, CAST(a.id AS text), a.card, a.has_key, a.acted, a.created_at, a.last_seen, b.counted, b.held, b.pending, b.leased, b.dead,
b.waiting_bytes

-- name: find_key
SELECT a.name, k.expires_at, k.revoked_at, office_now()
FROM keys k JOIN agents a ON a.agent = k.agent WHERE k.hash = :hash;

-- name: keys
SELECT k.hash, k.agent, k.prefix, k.created_at, k.expires_at, k.revoked_at, a.name
FROM keys k JOIN agents a ON a.agent = k.agent WHERE k.agent = :agent ORDER BY k.created_at;

-- name: agent
SELECT {agent}, office_now() FROM agents a JOIN mailboxes b ON b.agent = a.agent WHERE a.agent = :agent;

-- name: agents
SELECT {agent}, office_now() FROM agents a JOIN mailboxes b ON b.agent = a.agent
WHERE a.agent > :after AND a.agent NOT IN ('system', 'owner') ORDER BY a.agent LIMIT :limit;

-- name: names_near
-- Beside a name in the directory's order, so that a wrong one costs the same in an office of any size.
SELECT name FROM (SELECT name FROM agents WHERE agent >= :agent ORDER BY agent LIMIT :limit) AS following
UNION ALL
SELECT name FROM (SELECT name FROM agents WHERE agent < :agent ORDER BY agent DESC LIMIT :limit) AS preceding;

-- name: tasks_under_way
SELECT id FROM tasks WHERE assignee = :agent AND state IN ('accepted', 'working') ORDER BY message_id;

-- part: in_status
(CAST(:status AS text) IS NULL OR c.status = :status) AND (c.status <> 'PENDING' OR c.expires_at > office_now())

-- name: connections
SELECT {named_connection} WHERE c.id < :before AND {in_status} ORDER BY c.id DESC LIMIT :limit;

-- name: connections_of
-- Each half is a stretch of its own index, read from the end; the newest of both are the newest of all. To PostgreSQL an agent in an equation
-- has few of them, all to be read and sorted.
SELECT {named_connection} WHERE c.id IN (
  SELECT id FROM (
    SELECT c.id FROM connections c WHERE (c.requester, c.id) < (:agent, :before) AND c.requester >= :agent AND {in_status}
    ORDER BY c.requester DESC, c.id DESC LIMIT :limit) AS asking
  UNION
  SELECT id FROM (
    SELECT c.id FROM connections c WHERE (c.target, c.id) < (:agent, :before) AND c.target >= :agent AND {in_status}
    ORDER BY c.target DESC, c.id DESC LIMIT :limit) AS asked)
ORDER BY c.id DESC LIMIT :limit;

-- name: requests
-- What waits first, by its own index: in the order of all that ever was asked it would be looked for among what is settled.
WITH waiting AS MATERIALIZED (SELECT id FROM connections WHERE status = 'PENDING' AND expires_at > (SELECT office_now()))
SELECT {named_connection}
WHERE c.id IN (SELECT id FROM waiting WHERE id < :before ORDER BY id DESC LIMIT :limit)
ORDER BY c.id DESC;

-- name: requests_with
-- Each half by its own index of what waits, which is never much of one agent's.
SELECT {named_connection} WHERE c.id IN (
  SELECT id FROM connections WHERE status = 'PENDING' AND expires_at > (SELECT office_now()) AND requester = :agent AND target > ''
  UNION SELECT id FROM connections WHERE status = 'PENDING' AND expires_at > (SELECT office_now()) AND target = :agent)
  AND c.id < :before
ORDER BY c.id DESC LIMIT :limit;

-- name: expired_requests
SELECT CAST(id AS text) FROM connections WHERE status = 'PENDING' AND expires_at <= (SELECT office_now()) ORDER BY expires_at LIMIT :limit;

-- name: overdue_tasks
SELECT CAST(message_id AS text) FROM tasks
WHERE deadline <= (SELECT office_now()) AND deadline IS NOT NULL AND overdue = {false} AND state IN ('pending', 'accepted', 'working')
ORDER BY deadline LIMIT :limit;

-- part: inbox_columns
s.id, s.subject, s.counted, s.created_at, s.last_at, a.name AS other

-- part: with_lines
-- A session counts its messages, so its last ones are known by number. It counts among the unread what is held, which its reader is not told of.
, held AS (
  SELECT session_id, count(*) AS held, sum(CASE WHEN due_at IS NULL THEN 1 ELSE 0 END) AS hidden
  FROM deliveries WHERE mailbox = :agent AND state = 'held' AND session_id IS NOT NULL GROUP BY session_id)
SELECT CAST(s.id AS text), s.subject, s.other, s.unread - coalesce(h.held, 0), s.created_at, s.last_at, coalesce(h.hidden, 0),
       d.mailbox, d.state, d.session_number, m.body
FROM shown s LEFT JOIN held h ON h.session_id = s.id LEFT JOIN {lines_of_shown} d ON d.session_id = s.id AND d.session_number > s.counted - :lines
  AND ({let_through} OR d.mailbox <> :agent) LEFT JOIN messages m ON m.id = d.message_id
ORDER BY s.last_at DESC, s.id DESC, d.session_number DESC

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
  FROM (SELECT DISTINCT session_id FROM deliveries WHERE mailbox = :agent AND state = 'pending' AND session_id IS NOT NULL) AS waits
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

-- part: reader
(CAST(:reader AS text) IS NULL OR m.sender = :reader OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.mailbox = :reader AND {let_through}))

-- name: message_by_id
SELECT m.body FROM messages m WHERE m.id = :id AND {reader};

-- name: messages_by_client_id
-- Two are enough to say that it is ambiguous.
SELECT m.body FROM messages m WHERE m.client_id = :client_id AND {reader} LIMIT 2;

-- name: tombstone
SELECT purged_at FROM tombstones WHERE message_id = :id AND (CAST(:reader AS text) IS NULL OR sender = :reader);

-- name: standings
-- The reason of what is lent is where it lies.
SELECT a.name, d.state, d.attempts, d.number, CAST(d.session_id AS text), d.due_at, d.settled_at,
       CASE WHEN d.state = 'leased' AND d.due_at IS NULL THEN NULL ELSE d.reason END, d.leased_at
FROM deliveries d JOIN agents a ON a.agent = d.mailbox WHERE d.message_id = :id ORDER BY d.mailbox;

-- name: mailbox
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = :agent AND d.state = 'pending' AND (d.priority, d.number) > (:priority, :number)
ORDER BY d.priority, d.number LIMIT :limit;

-- name: mailbox_outside
-- Notes and mail to oneself, which stand in no session.
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = :agent AND d.state = 'pending' AND d.session_id IS NULL
  AND (d.priority, d.number) > (:priority, :number)
ORDER BY d.priority, d.number LIMIT :limit;

-- name: lent
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.state = 'leased' AND d.due_at IS NULL AND d.mailbox = :agent AND d.number > :after ORDER BY d.number LIMIT :limit;

-- name: borrowers
SELECT name FROM agents WHERE agent IN (SELECT mailbox FROM deliveries WHERE state = 'leased' AND due_at IS NULL) ORDER BY agent;

-- name: dead_letters
SELECT {delivery}, a.name FROM deliveries d JOIN messages m ON m.id = d.message_id JOIN agents a ON a.agent = d.mailbox
WHERE d.state = 'dead' AND d.mailbox = :agent AND d.number < :before ORDER BY d.number DESC LIMIT :limit;

-- name: all_dead_letters
-- The dead first, by their own index: in the order of all mail they would be looked for among the living.
-- Which of them are shown is decided by their names alone; all else is read of those only.
WITH dead AS MATERIALIZED (SELECT message_id, mailbox FROM deliveries WHERE state = 'dead'),
shown AS MATERIALIZED (
  SELECT message_id, mailbox FROM dead WHERE (message_id, mailbox) < (:before, :before_mailbox) ORDER BY message_id DESC, mailbox DESC LIMIT :limit)
SELECT {delivery}, a.name FROM shown s JOIN deliveries d ON d.message_id = s.message_id AND d.mailbox = s.mailbox
JOIN messages m ON m.id = d.message_id JOIN agents a ON a.agent = d.mailbox
ORDER BY d.message_id DESC, d.mailbox DESC;

-- part: named_task
CAST(t.message_id AS text), t.id, t.requester, t.assignee, t.state, t.subject, CAST(t.session_id AS text), t.deadline, t.overdue, t.callback, t.steps,
t.created_at, t.updated_at, r.name, a.name
FROM tasks t JOIN agents r ON r.agent = t.requester JOIN agents a ON a.agent = t.assignee

-- name: tasks
SELECT {named_task} WHERE t.message_id < :before AND (CAST(:state AS text) IS NULL OR t.state = :state) ORDER BY t.message_id DESC LIMIT :limit;

-- part: in_state
(CAST(:state AS text) IS NULL OR state = :state)

-- part: asked
-- Of whom a task is to be asked hears of it when the message that asks is let through.
NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = t.message_id AND d.mailbox = t.assignee AND NOT {let_through})

-- name: tasks_asked_of
-- An agent's are a stretch of its index, read from the end: to PostgreSQL an agent in an equation has few of them, all to be read and sorted.
SELECT {named_task} WHERE t.message_id IN (
  SELECT message_id FROM tasks t WHERE (assignee, message_id) < (:assignee, :before) AND assignee >= :assignee AND {in_state} AND {asked}
  ORDER BY assignee DESC, message_id DESC LIMIT :limit)
ORDER BY t.message_id DESC;

-- name: tasks_asked_by
SELECT {named_task} WHERE t.message_id IN (
  SELECT message_id FROM tasks WHERE (requester, message_id) < (:requester, :before) AND requester >= :requester AND {in_state}
  ORDER BY requester DESC, message_id DESC LIMIT :limit)
ORDER BY t.message_id DESC;

-- name: tasks_between
SELECT {named_task} WHERE t.message_id IN (
  SELECT message_id FROM tasks t WHERE (assignee, message_id) < (:assignee, :before) AND assignee >= :assignee
    AND (requester, message_id) < (:requester, :before) AND requester >= :requester AND {in_state} AND {asked}
  ORDER BY assignee DESC, message_id DESC LIMIT :limit)
ORDER BY t.message_id DESC;

-- name: notes
SELECT m.body FROM messages m
WHERE m.ref_id = :entity AND {is_note} AND m.id < :before ORDER BY m.id DESC LIMIT :limit;

-- name: all_entities
SELECT id, type, notes, created_at, last_at FROM entities WHERE id > :after ORDER BY id LIMIT :limit;

-- name: events
-- With new mail comes what it says, so that whoever pushes it need not ask again.
SELECT e.mailbox, e.number, e.kind, e.ref, e.data, e.at, CAST(d.session_id AS text), m.body FROM {news_of_agent} e
LEFT JOIN deliveries d ON d.mailbox = e.mailbox AND d.message_id = CASE WHEN e.kind = 'new_message' THEN CAST(e.ref AS {id}) END AND {let_through}
LEFT JOIN messages m ON m.id = d.message_id
WHERE e.mailbox = :agent AND e.number > :after ORDER BY e.number LIMIT :limit;

-- name: about_entity
SELECT m.body FROM messages m WHERE m.ref_id = :entity AND ({is_note} OR {reader})
  AND m.id < :before ORDER BY m.id DESC LIMIT :limit;

-- name: connection
SELECT {named_connection} WHERE c.id = :id;

-- part: done_with
m.created_at < office_now() - :age AND NOT {is_note}
    AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.message_id = m.id
                    AND (w.state IN ('held', 'pending', 'leased') OR w.settled_at > office_now() - :age))
    AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.message_id = m.id
                    AND (t.state IN ('pending', 'accepted', 'working') OR t.updated_at > office_now() - :age))
ORDER BY m.id LIMIT :limit

-- name: purgeable
-- Messages in the order they were made; whether every recipient is done with one is decided under locks.
-- Ids begin with their time: those of young messages are not looked through. An id that is ahead of the time was made elsewhere and tells no age.
-- What was said to everyone may have reached nobody: it has no mailbox.
SELECT CAST(p.id AS text), d.mailbox FROM (
  SELECT id FROM (SELECT m.id FROM messages m WHERE m.id < :young AND {done_with}) AS old
  UNION SELECT id FROM (SELECT m.id FROM messages m WHERE m.id > :ahead AND {done_with}) AS others
  ORDER BY id LIMIT :limit) AS p LEFT JOIN deliveries d ON d.message_id = p.id;

-- name: old_dedupe
SELECT sender, addressee, client_id, at FROM dedupe WHERE at < (SELECT office_now()) - :age ORDER BY at LIMIT :limit;

-- name: totals
SELECT (SELECT count(*) FROM agents) - 2, sum(held), sum(pending), sum(leased), sum(dead), sum(counted), office_now() FROM mailboxes;

-- name: oldest
-- The first of each priority is the oldest of it.
SELECT min((SELECT d.created_at FROM deliveries d WHERE d.mailbox = :agent AND d.state = 'pending' AND d.priority = p.n ORDER BY d.number LIMIT 1))
FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) AS p;

-- name: oldest_program
SELECT value FROM about WHERE name = 'oldest_program';

-- What people look at: the whole office, some at a time.

-- part: oldest_of
(SELECT min((SELECT d.created_at FROM deliveries d WHERE d.mailbox = a.agent AND d.state = 'pending' AND d.priority = p.n ORDER BY d.number LIMIT 1))
 FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) AS p)

-- name: roster
SELECT {agent}, {oldest_of}, office_now() FROM agents a JOIN mailboxes b ON b.agent = a.agent
WHERE a.agent > :after AND a.agent NOT IN ('system', 'owner') ORDER BY a.agent LIMIT :limit;

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

-- name: open_tasks
SELECT {named_task}
WHERE t.state IN ('pending', 'accepted', 'working') AND t.state = :state
  AND (CAST(:agent AS text) IS NULL OR (t.assignee = :agent AND {asked}) OR t.requester = :agent)
  AND t.message_id > :after
ORDER BY t.message_id LIMIT :limit;

-- name: finished_tasks
SELECT {named_task}
WHERE t.state IN ('completed', 'rejected', 'failed') AND t.message_id < :before
ORDER BY t.message_id DESC LIMIT :limit;

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

-- name: find_visit
SELECT a.name, v.kind FROM visits v JOIN agents a ON a.agent = v.agent WHERE v.hash = :hash AND v.expires_at > office_now();

-- name: accounts
SELECT l.agent, a.name, l.account_id, l.inbound_topic_id, l.outbound_topic_id FROM ledger_accounts l JOIN agents a ON a.agent = l.agent ORDER BY l.agent;

-- name: ledger_topics
-- The newest first: where two have several to meet on, that is where they meet now.
SELECT topic_id, kind, agent, about FROM ledger_topics ORDER BY created_at DESC, topic_id;

-- name: ledger_cursors
SELECT name, value FROM cursors WHERE name LIKE 'ledger:%';

-- part: line
CASE topic_id WHEN '' THEN id ELSE topic_id END || ' ' || coalesce(payer, '')

-- name: posts_due
-- What one account pays for on one topic goes in order: nothing is due before what was put there earlier. Of each such line the
-- first come first, so that none fills the page alone. Topics that are yet to be made are lines of their own.
-- Lines are found one after another by their first post, and followed as far as a page needs of each: however much waits, little is read.
WITH RECURSIVE firsts (line, post, since, due) AS (
  SELECT {line}, id, created_at, due_at FROM ledger_outbox
  WHERE id = (SELECT id FROM ledger_outbox WHERE state = 'waiting' ORDER BY {line}, created_at, id LIMIT 1)
  UNION ALL
  SELECT {line}, id, created_at, due_at FROM firsts JOIN ledger_outbox
    ON id = (SELECT id FROM ledger_outbox WHERE state = 'waiting' AND ({line}) > firsts.line ORDER BY {line}, created_at, id LIMIT 1)
), due (line, post, since, place) AS (
  SELECT line, post, since, 1 FROM firsts WHERE due <= (SELECT office_now())
), followed AS (
  SELECT * FROM due
  UNION ALL
  SELECT line, id, created_at, place + 1 FROM followed JOIN ledger_outbox
    ON id = (SELECT id FROM ledger_outbox WHERE state = 'waiting' AND ({line}) = followed.line AND (created_at, id) > (followed.since, followed.post)
             ORDER BY created_at, id LIMIT 1)
  WHERE due_at <= (SELECT office_now()) AND place * (SELECT count(*) FROM due) < :limit
)
SELECT o.id, o.topic_id, o.memo, o.payer, o.body, o.message_id, o.mailbox, o.attempts, o.signed
FROM (SELECT * FROM followed ORDER BY place, since, post LIMIT :limit) AS page JOIN ledger_outbox o ON o.id = page.post
ORDER BY page.place, page.since, page.post;

-- name: posts_by_state
-- What is confirmed, nearly all there is, is what is left of all: to count rows, none has to be read.
WITH others AS MATERIALIZED (SELECT state, count(*) AS posts FROM ledger_outbox WHERE state <> 'confirmed' GROUP BY state),
confirmed AS MATERIALIZED (SELECT (SELECT count(*) FROM ledger_outbox) - coalesce((SELECT sum(posts) FROM others), 0) AS posts)
SELECT state, posts FROM others UNION ALL SELECT 'confirmed', CAST(posts AS bigint) FROM confirmed WHERE posts > 0;

-- name: quarantined
SELECT topic_id, sequence, payer, at, verdict, message_id, reason, body FROM ledger_records
WHERE verdict = 'quarantined' AND (topic_id, sequence) > (:topic_id, :sequence) ORDER BY topic_id, sequence LIMIT :limit;

-- name: ledger_records
SELECT topic_id, sequence, payer, at, verdict, message_id, reason, body FROM ledger_records
WHERE topic_id = :topic_id AND sequence > :sequence ORDER BY sequence LIMIT :limit;

-- name: taken_ahead
SELECT sequence FROM ledger_records WHERE topic_id = :topic_id AND sequence > :sequence;

-- name: quarantined_count
SELECT count(*) FROM ledger_records WHERE verdict = 'quarantined';

-- name: post_troubles
SELECT error, count(*) FROM ledger_outbox WHERE state <> 'confirmed' AND state IN ('waiting', 'failed') AND error IS NOT NULL
GROUP BY error ORDER BY count(*) DESC LIMIT 5;

-- name: ledger_standings
SELECT a.name, o.state, o.topic_id, r.sequence, r.at, o.error
FROM ledger_outbox o JOIN agents a ON a.agent = o.mailbox
LEFT JOIN ledger_records r ON r.message_id = o.message_id AND r.topic_id = o.topic_id AND r.verdict = 'confirmed'
WHERE o.message_id = :id AND o.mailbox IS NOT NULL ORDER BY o.mailbox, r.sequence DESC;

-- name: openings
-- Consent that an agent of other software was given and has not been told of; with the topic where the two have met before, if they have.
-- Such agents are few, and most have been told: only of the others it is looked up what they asked. (SQLite joins in the order of CROSS JOIN.)
WITH untold AS MATERIALIZED (
  SELECT c.id, c.requester, c.target, l.account_id FROM ledger_accounts l CROSS JOIN connections c
  WHERE l.outbound_topic_id IS NULL AND c.requester = l.agent AND c.status = 'ACTIVE'
    AND NOT EXISTS (SELECT 1 FROM ledger_outbox p WHERE p.id = CAST(c.id AS text)))
SELECT CAST(c.id AS text), a.name, c.account_id, o.inbound_topic_id, max(r.sequence),
  (SELECT t.topic_id FROM ledger_topics t WHERE t.kind = 'connection' AND t.agent = c.target AND t.about = c.requester
   ORDER BY t.created_at DESC, t.topic_id LIMIT 1)
FROM untold c CROSS JOIN ledger_accounts o CROSS JOIN agents a CROSS JOIN ledger_records r
WHERE o.agent = c.target AND o.outbound_topic_id IS NOT NULL AND a.agent = c.target
  AND r.topic_id = o.inbound_topic_id AND r.payer = c.account_id AND r.verdict = 'asked'
GROUP BY c.id, c.requester, c.target, a.name, c.account_id, o.inbound_topic_id;
