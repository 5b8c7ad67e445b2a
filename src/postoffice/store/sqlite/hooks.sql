-- Hooks, on SQLite.

-- name: hook
SELECT hash FROM hooks WHERE name = ?1;

-- name: put_hook
INSERT INTO hooks (name, hash, recipient, proof, secret, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, recipient = excluded.recipient, proof = excluded.proof, secret = excluded.secret,
  created_at = excluded.created_at;

-- name: revoke_hook
UPDATE hooks SET hash = NULL, secret = NULL WHERE name = ?1;
