-- Messages and deliveries, the same on both engines.

-- part: holder
-- Programs before schema 0014 say only whether the lease can be settled without its token; then it is the mailbox's own agent who has it.
coalesce(d.holder, CASE WHEN d.tokenless THEN d.mailbox END)

-- part: delivery
d.id, CAST(d.message_id AS text), d.mailbox, d.number, d.priority, d.state, d.sender, d.type, CAST(d.session_id AS text), d.session_number,
d.correlation_id, d.attempts, d.token, {holder}, d.due_at, d.created_at, d.leased_at, d.settled_at, d.reason, d.size, d.seen_at,
d.deliver_at, d.expires_at, m.client_id, m.body

-- part: bare_delivery
d.id, CAST(d.message_id AS text), d.mailbox, d.number, d.priority, d.state, d.sender, d.type, CAST(d.session_id AS text), d.session_number,
d.correlation_id, d.attempts, d.token, {holder}, d.due_at, d.created_at, d.leased_at, d.settled_at, d.reason, d.size, d.seen_at,
d.deliver_at, d.expires_at

-- part: let_through
-- Held without a time to try again is held since it was sent: until it is released it is nobody's but its sender's.
-- So is what has waited for its time, whatever became of it before that came.
((d.state <> 'held' OR d.due_at IS NOT NULL) AND d.deliver_at IS NULL)

-- part: unexpired
-- What expired a moment ago is not dead yet, and not given out any more.
(expires_at IS NULL OR expires_at > (SELECT office_now()))

-- part: reader
(CAST(:reader AS text) IS NULL OR m.sender = :reader OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.mailbox = :reader AND {let_through})
 OR EXISTS (SELECT 1 FROM role_takes t WHERE t.message_id = m.id AND t.agent = :reader)
 OR EXISTS (SELECT 1 FROM list_letters n JOIN list_members r ON r.list_id = n.list_id AND r.agent = :reader AND r.place <> 'invited'
            WHERE n.message_id = m.id AND NOT n.canceled AND n.number >= r.begins AND (r.ends IS NULL OR n.number <= r.ends)
              AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.mailbox = :reader)))

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
       CASE WHEN d.state = 'leased' AND d.due_at IS NULL THEN NULL ELSE d.reason END, d.leased_at, d.seen_at,
       CASE WHEN d.state = 'pending' AND b.paused_at IS NOT NULL AND (b.paused_until IS NULL OR b.paused_until > office_now()) THEN 1 END, b.paused_until,
       d.deliver_at,
       (SELECT p.name FROM role_takes t JOIN agents p ON p.agent = t.agent WHERE t.message_id = d.message_id AND t.mailbox = d.mailbox),
       r.times, r.first_at, r.last_at, r.turn_at, r.told_at
FROM deliveries d JOIN agents a ON a.agent = d.mailbox JOIN mailboxes b ON b.agent = d.mailbox
LEFT JOIN rings r ON r.message_id = d.message_id AND r.mailbox = d.mailbox 
WHERE d.message_id = :id AND d.mailbox > :after AND (CAST(:reader AS text) IS NULL OR d.mailbox = :reader) ORDER BY d.mailbox LIMIT :limit;

-- name: standings_in_numbers
SELECT d.state, count(*) FROM deliveries d WHERE d.message_id = :id GROUP BY d.state;

-- name: mailbox
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = :agent AND d.state = 'pending' AND (d.priority, d.number) > (:priority, :number) AND {unexpired}
ORDER BY d.priority, d.number LIMIT :limit;

-- name: mailbox_outside
-- Notes and mail to oneself, which stand in no session.
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = :agent AND d.state = 'pending' AND d.session_id IS NULL
  AND (d.priority, d.number) > (:priority, :number) AND {unexpired}
ORDER BY d.priority, d.number LIMIT :limit;

-- name: in_hand_of
-- What is lent lies elsewhere.
SELECT {delivery}, d.due_at - office_now() FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = :agent AND d.state = 'leased' AND d.due_at > (SELECT office_now()) ORDER BY d.priority, d.number LIMIT :limit;

-- name: lent
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.state = 'leased' AND d.due_at IS NULL AND d.mailbox = :agent AND d.number > :after ORDER BY d.number LIMIT :limit;

-- name: borrowers
SELECT name FROM agents WHERE agent IN (SELECT mailbox FROM deliveries WHERE state = 'leased' AND due_at IS NULL) ORDER BY agent;

-- part: unfinished
SELECT message_id FROM deliveries WHERE mailbox = :agent AND state = 'pending'
UNION ALL SELECT message_id FROM deliveries WHERE mailbox = :agent AND state = 'leased'
UNION ALL SELECT message_id FROM deliveries d WHERE mailbox = :agent AND state = 'held' AND {let_through}
UNION ALL SELECT message_id FROM deliveries WHERE mailbox = :agent AND state = 'dead' AND deliver_at IS NULL

-- part: mine
-- The newest messages of the office, and all that waits in the mailbox, is in hand or dead: never the whole of an old office.
SELECT DISTINCT CAST(n.message_id AS text) AS id FROM (
  SELECT d.message_id FROM (SELECT message_id, mailbox, sender, state, due_at, deliver_at FROM deliveries ORDER BY message_id DESC LIMIT :most) AS d
  WHERE CAST(:agent AS text) IS NULL OR d.sender = :agent OR (d.mailbox = :agent AND {let_through})
  UNION ALL {unfinished}
) AS n

-- name: newer_ids
-- Of what is newer than this the newest, for whoever remembers the rest.
SELECT CAST(d.message_id AS text), d.mailbox, d.sender, {let_through} FROM deliveries d WHERE d.message_id > :after ORDER BY d.message_id DESC LIMIT :most;

-- name: unfinished_ids
-- Of what is older than the newest: so many at most that a mailbox with a long backlog is not gone through.
SELECT CAST(n.message_id AS text) FROM ({unfinished}) AS n WHERE n.message_id < :before LIMIT :most;

-- name: ids_beginning
{mine} WHERE substr(CAST(n.message_id AS text), 1, length(CAST(:beginning AS text))) = :beginning LIMIT :shown;

-- part: awaits
SELECT w.id, w.agent, w.other, a.name FROM awaits w JOIN agents a ON a.agent = w.agent WHERE w.until > (SELECT office_now())

-- name: awaits
{awaits};

-- name: dead_letters
SELECT {delivery}, a.name FROM deliveries d JOIN messages m ON m.id = d.message_id JOIN agents a ON a.agent = d.mailbox
WHERE d.state = 'dead' AND d.deliver_at IS NULL AND d.mailbox = :agent AND d.number < :before ORDER BY d.number DESC LIMIT :limit;

-- name: all_dead_letters
-- The dead first, by their own index: in the order of all mail they would be looked for among the living.
-- Which of them are shown is decided by their names alone; all else is read of those only.
WITH dead AS MATERIALIZED (SELECT message_id, mailbox FROM deliveries WHERE state = 'dead'),
shown AS MATERIALIZED (
  SELECT message_id, mailbox FROM dead WHERE (message_id, mailbox) < (:before, :before_mailbox) ORDER BY message_id DESC, mailbox DESC LIMIT :limit)
SELECT {delivery}, a.name FROM shown s JOIN deliveries d ON d.message_id = s.message_id AND d.mailbox = s.mailbox
JOIN messages m ON m.id = d.message_id JOIN agents a ON a.agent = d.mailbox
ORDER BY d.message_id DESC, d.mailbox DESC;

-- name: oldest
-- The first of each priority is the oldest of it.
SELECT min((SELECT d.created_at FROM deliveries d WHERE d.mailbox = :agent AND d.state = 'pending' AND d.priority = p.n ORDER BY d.number LIMIT 1))
FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) AS p;

-- name: next_due
-- How long until the next letter comes due or expires, or one that recurs is to be sent.
SELECT min(soonest.at) - office_now() FROM (
  SELECT (SELECT min(deliver_at) FROM deliveries WHERE state = 'held' AND deliver_at IS NOT NULL) AS at
  UNION ALL SELECT (SELECT min(expires_at) FROM deliveries WHERE state IN ('held', 'pending') AND expires_at IS NOT NULL)
  UNION ALL SELECT (SELECT min(next_at) FROM recurring)) AS soonest;

-- name: not_taken
-- Of one mailbox whose agent never came.
SELECT CAST(message_id AS text) FROM deliveries WHERE mailbox = :agent AND state IN ('pending', 'held') ORDER BY number LIMIT :limit;
