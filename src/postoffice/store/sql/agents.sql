-- Agents, their mailboxes and their keys, the same on both engines.

-- part: agent
a.agent, a.name, CAST(a.id AS text), a.card, a.has_key, a.acted, a.created_at, a.last_seen, b.counted, b.held, b.pending, b.leased, b.dead,
b.waiting_bytes, a.forgotten, b.paused_at, b.paused_until, b.paused_by, b.pause_reason

-- part: no_role
-- Roles have mailboxes, and are no agents.
agent NOT LIKE 'role:%'

-- part: seen
-- What waits and its person has opened: of few agents there is any.
(SELECT count(*) FROM deliveries d WHERE d.mailbox = a.agent AND d.state = 'pending' AND d.seen_at IS NOT NULL)

-- name: find_key
SELECT a.name, k.expires_at, k.revoked_at, office_now()
FROM keys k JOIN agents a ON a.agent = k.agent WHERE k.hash = :hash;

-- name: keys
SELECT k.hash, k.agent, k.prefix, k.created_at, k.expires_at, k.revoked_at, a.name
FROM keys k JOIN agents a ON a.agent = k.agent WHERE k.agent = :agent ORDER BY k.created_at;

-- name: agent
SELECT {agent}, {seen}, office_now() FROM agents a JOIN mailboxes b ON b.agent = a.agent WHERE a.agent = :agent AND NOT a.forgotten;

-- name: ended_pauses
SELECT agent FROM mailboxes WHERE paused_until <= (SELECT office_now()) ORDER BY paused_until LIMIT :limit;

-- name: card
SELECT card FROM agents WHERE agent = :agent;

-- name: agents
SELECT {agent}, {seen}, office_now() FROM agents a JOIN mailboxes b ON b.agent = a.agent
WHERE a.agent > :after AND a.agent <> 'system' AND NOT a.forgotten AND a.{no_role} ORDER BY a.agent LIMIT :limit;

-- part: look
-- What people see in a name at a glance, as the rule in the program has it and the index.
replace(replace(replace(replace(replace(rtrim(agent, '._-'), '0', 'o'), '1', 'l'), 'i', 'l'), 'rn', 'm'), 'vv', 'w')

-- name: names_near
-- Beside a name in the directory's order, so that a wrong one costs the same in an office of any size. One that nobody has used is no help.
SELECT name FROM (SELECT name FROM agents WHERE agent >= :agent AND {no_role} AND (acted OR has_key) ORDER BY agent LIMIT :limit) AS following
UNION ALL
SELECT name FROM (SELECT name FROM agents WHERE agent < :agent AND {no_role} AND (acted OR has_key) ORDER BY agent DESC LIMIT :limit) AS preceding;

-- name: names_with
-- Those that begin so come first.
SELECT name FROM agents WHERE agent LIKE :part ESCAPE '~' AND agent <> 'system' AND {no_role} AND NOT forgotten ORDER BY CASE WHEN agent LIKE :begin ESCAPE '~' THEN 0 ELSE 1 END, agent LIMIT :limit;
