-- Requests and connections, on SQLite.

-- name: connected
-- Windows that one machine's key opened are as connected, by the owner who made the key. What the two agreed on themselves comes last, and counts.
SELECT ?1, ?2, 'owner' FROM window_names a JOIN window_names b ON b.prefix = a.prefix WHERE a.agent = ?1 AND b.agent = ?2
UNION ALL
SELECT ?1, ?2, assurance FROM connections
WHERE status = 'ACTIVE' AND ((requester = ?1 AND target = ?2) OR (requester = ?2 AND target = ?1));

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

-- name: put_connection
INSERT INTO connections (id, requester, target, status, code, note, assurance, created_at, updated_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, code = excluded.code, assurance = excluded.assurance, updated_at = excluded.updated_at;
