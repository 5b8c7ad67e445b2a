-- Agents, their mailboxes and their keys, on SQLite.

-- name: everyone
SELECT agent FROM agents WHERE NOT forgotten AND {no_role};

-- part: versions
-- One process owns the file: nobody else can have written a row.
0, 0

-- part: boxes
SELECT {agent}, {versions}, office_now() FROM agents a JOIN mailboxes b ON b.agent = a.agent WHERE a.agent = ?1

-- name: boxes
{boxes};

-- name: boxes_and_agents
{boxes};

-- name: keys_of
SELECT hash, agent, prefix, created_at, expires_at, revoked_at FROM keys
WHERE agent = ?1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > office_now());

-- name: add_agent
INSERT INTO agents (agent, name, id, card, has_key, acted, created_at, last_seen) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: add_mailbox
INSERT INTO mailboxes (agent, counted, held, pending, leased, dead, waiting_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: update_agent
UPDATE agents SET card = ?2, has_key = ?3, acted = ?4, last_seen = ?5, forgotten = ?6 WHERE agent = ?1;

-- name: update_mailbox
UPDATE mailboxes SET counted = ?2, held = ?3, pending = ?4, leased = ?5, dead = ?6, waiting_bytes = ?7 WHERE agent = ?1;

-- name: put_pause
UPDATE mailboxes SET paused_at = ?2, paused_until = ?3, paused_by = ?4, pause_reason = ?5 WHERE agent = ?1;

-- name: put_key
INSERT INTO keys (hash, agent, prefix, created_at, expires_at, revoked_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at;

-- name: lookalikes
SELECT name FROM agents WHERE {look} = ?1 AND NOT forgotten ORDER BY agent LIMIT 1;
