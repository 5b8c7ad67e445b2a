-- Hooks, on PostgreSQL.

-- name: hook
SELECT hash FROM hooks WHERE name = ANY ($1::text[]);

-- name: put_hook
INSERT INTO hooks (name, hash, recipient, proof, secret, created_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, recipient = excluded.recipient, proof = excluded.proof, secret = excluded.secret,
  created_at = excluded.created_at;

-- name: revoke_hook
UPDATE hooks SET hash = NULL, secret = NULL WHERE name = ANY ($1::text[]);
