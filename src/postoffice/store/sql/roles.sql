-- Roles, the same on both engines.

-- part: signs_of_life
-- Whoever has a session of a role, `t`, is there: in a window, or heard of lately, and took something of it not too long ago.
t.at > (SELECT office_now()) - {stay}
  AND (EXISTS (SELECT 1 FROM agents p WHERE p.agent = t.agent AND NOT p.forgotten AND p.last_seen IS NOT NULL
               AND (p.last_seen > (SELECT office_now()) - {silence} OR t.at > (SELECT office_now()) - {silence}))
       OR EXISTS (SELECT 1 FROM windows o WHERE o.agent = t.agent AND o.until > (SELECT office_now())))

-- part: role
r.agent, a.name, a.card, m.name, r.created_at, r.capability, b.pending, b.leased, b.dead
FROM mail_roles r JOIN agents a ON a.agent = r.agent JOIN mailboxes b ON b.agent = r.agent JOIN agents m ON m.agent = r.made_by

-- part: in_roles_hands
(SELECT count(*) FROM mail_roles o JOIN deliveries d ON d.mailbox = o.agent AND d.state = 'leased'
 JOIN role_takes t ON t.message_id = d.message_id AND t.mailbox = d.mailbox AND t.agent = a.agent)

-- name: roles
SELECT {role} ORDER BY r.agent;

-- name: role_members
SELECT s.role, a.name FROM role_staff s JOIN agents a ON a.agent = s.agent WHERE NOT a.forgotten ORDER BY s.role, s.agent;

-- name: role_hands
-- What is in hand of a role, and whose hand it is.
SELECT CAST(d.message_id AS text), a.name FROM deliveries d JOIN role_takes t ON t.message_id = d.message_id AND t.mailbox = d.mailbox
JOIN agents a ON a.agent = t.agent WHERE d.mailbox = :role AND d.state = 'leased' ORDER BY d.number LIMIT :limit;

-- name: waiting_for_staff
-- What one agent of a role may take of its mail, in its order: no session of another who is there. And what its card and its hands have to say to that.
SELECT {delivery}, EXISTS (SELECT 1 FROM deliveries l WHERE l.session_id = d.session_id AND l.mailbox = d.mailbox AND l.state = 'leased'), b.leased, a.card
FROM deliveries d JOIN messages m ON m.id = d.message_id JOIN mailboxes b ON b.agent = d.mailbox JOIN agents a ON a.agent = d.mailbox
WHERE d.mailbox = :role AND d.state = 'pending' AND {unexpired}
  AND NOT EXISTS (SELECT 1 FROM role_sessions t WHERE t.session_id = d.session_id AND t.agent <> :taker AND t.at > (SELECT office_now()) - :stay
    AND (EXISTS (SELECT 1 FROM agents p WHERE p.agent = t.agent AND NOT p.forgotten AND p.last_seen IS NOT NULL
                 AND (p.last_seen > (SELECT office_now()) - :silence OR t.at > (SELECT office_now()) - :silence))
         OR EXISTS (SELECT 1 FROM windows o WHERE o.agent = t.agent AND o.until > (SELECT office_now()))))
ORDER BY d.priority, d.number LIMIT :limit;

-- name: role_mailboxes
-- In which roles' mailboxes a message is, by either of its ids.
SELECT DISTINCT d.mailbox FROM mail_roles r JOIN deliveries d ON d.mailbox = r.agent JOIN messages m ON m.id = d.message_id
WHERE CAST(m.id AS text) = :ref OR m.client_id = :ref;

-- name: cards
-- Of all who say that they can do something.
SELECT name, card FROM agents WHERE NOT forgotten AND {no_role} AND card LIKE '%"capabilities":%' ORDER BY agent;
