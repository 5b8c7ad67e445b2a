-- Requests and connections, on PostgreSQL.

-- name: connected
-- Windows that one machine's key opened are as connected, by the owner who made the key. What the two agreed on themselves comes last, and counts.
SELECT k.low, k.high, 'owner' FROM unnest($1::text[], $2::text[]) AS k (low, high)
JOIN window_names a ON a.agent = k.low JOIN window_names b ON b.agent = k.high AND b.prefix = a.prefix
UNION ALL
SELECT k.low, k.high, c.assurance FROM unnest($1::text[], $2::text[]) AS k (low, high)
JOIN connections c ON c.status = 'ACTIVE'
  AND ((c.requester = k.low AND c.target = k.high) OR (c.requester = k.high AND c.target = k.low));

-- name: connections_by_id
SELECT {connection} FROM connections WHERE id = ANY ($1::uuid[]);

-- name: connections_by_code
SELECT {connection} FROM connections WHERE code = ANY ($1::text[]) AND status = 'PENDING'
UNION ALL
-- What was approved a moment ago, for whoever missed the answer.
SELECT {connection} FROM connections WHERE code = ANY ($1::text[]) AND status = 'ACTIVE';

-- name: requests_of
SELECT {connection} FROM connections WHERE status = 'PENDING' AND (requester = ANY ($1::text[]) OR target = ANY ($1::text[]));

-- name: put_connection
INSERT INTO connections (id, requester, target, status, code, note, assurance, created_at, updated_at, expires_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[])
ON CONFLICT (id) DO UPDATE SET status = excluded.status, code = excluded.code, assurance = excluded.assurance, updated_at = excluded.updated_at;
