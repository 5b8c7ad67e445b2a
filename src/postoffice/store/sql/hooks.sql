-- Hooks, the same on both engines.

-- part: hook_row
h.name, a.name, r.name, h.proof, h.secret, h.created_at, h.hash IS NULL
FROM hooks h JOIN agents a ON a.agent = h.name JOIN agents r ON r.agent = h.recipient

-- name: hooks
SELECT {hook_row} ORDER BY h.name;

-- name: hook_by_hash
SELECT {hook_row} WHERE h.hash = :hash;
