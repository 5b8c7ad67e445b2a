-- The ledger: accounts, topics, posts, records, the same on both engines.

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
