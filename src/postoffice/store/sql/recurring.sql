-- Recurring letters, the same on both engines.

-- part: recurring
CAST(r.id AS text), r.agent, r.verified, r.every, r.zone, r.missed, r.letter, r.next_at, r.created_at, r.last_at, r.sent, r.trouble

-- name: recurring
SELECT {recurring}, a.name FROM recurring r JOIN agents a ON a.agent = r.agent
WHERE CAST(:agent AS text) IS NULL OR r.agent = :agent ORDER BY r.next_at, r.id;

-- name: due_recurring
SELECT {recurring} FROM recurring r WHERE r.next_at <= (SELECT office_now()) ORDER BY r.next_at, r.id LIMIT :limit;
