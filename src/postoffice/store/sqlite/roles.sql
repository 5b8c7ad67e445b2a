-- Roles, on SQLite.

-- part: stay
?4

-- part: silence
?3

-- part: others_session
-- It is of a session that another agent of the role has.
d.session_id IS NOT NULL AND EXISTS (SELECT 1 FROM role_sessions t WHERE t.session_id = d.session_id AND t.agent <> ?2 AND {signs_of_life})

-- name: waiting_in_role
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.state = 'pending' AND {unexpired} AND NOT ({others_session})
ORDER BY d.priority, d.number LIMIT ?5;

-- name: waiting_heads_in_role
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id
WHERE d.mailbox = ?1 AND d.state = 'pending' AND {unexpired} AND NOT ({others_session}) AND {is_head}
ORDER BY d.priority, d.number LIMIT ?5;

-- name: role_sessions
SELECT t.session_id, t.agent FROM role_sessions t WHERE t.session_id = ?1
  AND t.at > office_now() - ?3
  AND (EXISTS (SELECT 1 FROM agents p WHERE p.agent = t.agent AND NOT p.forgotten AND p.last_seen IS NOT NULL
               AND (p.last_seen > office_now() - ?2 OR t.at > office_now() - ?2))
       OR EXISTS (SELECT 1 FROM windows o WHERE o.agent = t.agent AND o.until > office_now()));

-- name: role_takes
SELECT message_id, mailbox, agent, at FROM role_takes WHERE message_id = ?1 AND mailbox = ?2;

-- name: role_of
SELECT r.made_by, r.capability, r.created_at, s.agent FROM mail_roles r LEFT JOIN role_staff s ON s.role = r.agent WHERE r.agent = ?1;

-- name: put_role
INSERT INTO mail_roles (agent, made_by, capability, created_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (agent) DO UPDATE SET capability = excluded.capability;

-- name: drop_role
DELETE FROM mail_roles WHERE agent = ?1;

-- name: put_role_staff
INSERT INTO role_staff (role, agent) VALUES (?1, ?2) ON CONFLICT (role, agent) DO NOTHING;

-- name: drop_role_staff
DELETE FROM role_staff WHERE role = ?1 AND agent = ?2;

-- name: drop_all_role_staff
DELETE FROM role_staff WHERE role = ?1;

-- name: put_role_session
INSERT INTO role_sessions (session_id, role, agent, at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (session_id) DO UPDATE SET agent = excluded.agent, at = excluded.at;

-- name: drop_role_session
DELETE FROM role_sessions WHERE session_id = ?1;

-- name: free_role_sessions
DELETE FROM role_sessions WHERE role = ?1;

-- name: free_sessions_of
DELETE FROM role_sessions WHERE role = ?1 AND agent = ?2;

-- name: free_sessions_by_capability
DELETE FROM role_sessions WHERE agent = ?1 AND role IN (SELECT agent FROM mail_roles WHERE lower(capability) = ?2);

-- name: put_role_take
INSERT INTO role_takes (message_id, mailbox, agent, at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (message_id, mailbox) DO UPDATE SET agent = excluded.agent, at = excluded.at;

-- name: delete_role_takes
DELETE FROM role_takes WHERE message_id = ?1;

-- name: signs_of
-- What is known of those who are in a role.
SELECT a.name, a.acted, a.last_seen, b.leased + {in_roles_hands}, b.paused_at, b.paused_until, b.paused_by, b.pause_reason, a.card, office_now()
FROM agents a JOIN mailboxes b ON b.agent = a.agent WHERE a.agent IN (SELECT value FROM json_each(:agents));
