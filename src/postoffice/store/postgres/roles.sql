-- Roles, on PostgreSQL.

-- part: stay
k.stay

-- part: silence
k.silence

-- part: others_session
-- It is of a session that another agent of the role has.
w.session_id IS NOT NULL AND EXISTS (SELECT 1 FROM role_sessions t WHERE t.session_id = w.session_id AND t.agent <> k.taker AND {signs_of_life})

-- name: waiting_in_role
SELECT {delivery} FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS k (mailbox, taker, silence, stay, most)
CROSS JOIN LATERAL (
  SELECT w.* FROM deliveries w WHERE w.mailbox = k.mailbox AND w.state = 'pending' AND {unexpired} AND NOT ({others_session})
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE OF w SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: waiting_heads_in_role
SELECT {delivery} FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS k (mailbox, taker, silence, stay, most)
CROSS JOIN LATERAL (
  SELECT w.* FROM deliveries w WHERE w.mailbox = k.mailbox AND w.state = 'pending' AND {unexpired} AND NOT ({others_session}) AND {is_head}
  ORDER BY w.priority, w.number LIMIT k.most FOR UPDATE OF w SKIP LOCKED) AS d
JOIN messages m ON m.id = d.message_id;

-- name: role_sessions
SELECT CAST(t.session_id AS text), t.agent FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS k (session_id, silence, stay)
JOIN role_sessions t ON t.session_id = k.session_id AND {signs_of_life};

-- name: role_takes
SELECT CAST(t.message_id AS text), t.mailbox, t.agent, t.at FROM unnest($1::uuid[], $2::text[]) AS k (message_id, mailbox)
JOIN role_takes t ON t.message_id = k.message_id AND t.mailbox = k.mailbox;

-- name: role_of
SELECT r.made_by, r.capability, r.created_at, s.agent FROM mail_roles r LEFT JOIN role_staff s ON s.role = r.agent WHERE r.agent = ANY ($1::text[]);

-- name: put_role
INSERT INTO mail_roles (agent, made_by, capability, created_at) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
ON CONFLICT (agent) DO UPDATE SET capability = excluded.capability;

-- name: drop_role
DELETE FROM mail_roles WHERE agent = ANY ($1::text[]);

-- name: put_role_staff
INSERT INTO role_staff (role, agent) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT (role, agent) DO NOTHING;

-- name: drop_role_staff
DELETE FROM role_staff s USING unnest($1::text[], $2::text[]) AS k (role, agent) WHERE s.role = k.role AND s.agent = k.agent;

-- name: drop_all_role_staff
DELETE FROM role_staff WHERE role = ANY ($1::text[]);

-- name: put_role_session
INSERT INTO role_sessions (session_id, role, agent, at) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[])
ON CONFLICT (session_id) DO UPDATE SET agent = excluded.agent, at = excluded.at;

-- name: drop_role_session
DELETE FROM role_sessions WHERE session_id = ANY ($1::uuid[]);

-- name: free_role_sessions
DELETE FROM role_sessions WHERE role = ANY ($1::text[]);

-- name: free_sessions_of
DELETE FROM role_sessions s USING unnest($1::text[], $2::text[]) AS k (role, agent) WHERE s.role = k.role AND s.agent = k.agent;

-- name: free_sessions_by_capability
DELETE FROM role_sessions s USING unnest($1::text[], $2::text[]) AS k (agent, capability)
WHERE s.agent = k.agent AND s.role IN (SELECT r.agent FROM mail_roles r WHERE lower(r.capability) = k.capability);

-- name: put_role_take
INSERT INTO role_takes (message_id, mailbox, agent, at) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[])
ON CONFLICT (message_id, mailbox) DO UPDATE SET agent = excluded.agent, at = excluded.at;

-- name: delete_role_takes
DELETE FROM role_takes WHERE message_id = ANY ($1::uuid[]);

-- name: signs_of
-- What is known of those who are in a role.
SELECT a.name, a.acted, a.last_seen, b.leased + {in_roles_hands}, b.paused_at, b.paused_until, b.paused_by, b.pause_reason, a.card, office_now()
FROM agents a JOIN mailboxes b ON b.agent = a.agent WHERE a.agent = ANY (:agents::text[]);
