-- Requests and connections, the same on both engines.

-- part: connection
CAST(id AS text), requester, target, status, code, note, assurance, created_at, updated_at, expires_at

-- part: named_connection
CAST(c.id AS text), c.requester, c.target, c.status, c.code, c.note, c.assurance, c.created_at, c.updated_at, c.expires_at, r.name, t.name
FROM connections c JOIN agents r ON r.agent = c.requester JOIN agents t ON t.agent = c.target

-- part: in_status
(CAST(:status AS text) IS NULL OR c.status = :status) AND (c.status <> 'PENDING' OR c.expires_at > office_now())

-- name: connections
SELECT {named_connection} WHERE c.id < :before AND {in_status} ORDER BY c.id DESC LIMIT :limit;

-- name: connections_of
-- Each half is a stretch of its own index, read from the end; the newest of both are the newest of all. To PostgreSQL an agent in an equation
-- has few of them, all to be read and sorted.
SELECT {named_connection} WHERE c.id IN (
  SELECT id FROM (
    SELECT c.id FROM connections c WHERE (c.requester, c.id) < (:agent, :before) AND c.requester >= :agent AND {in_status}
    ORDER BY c.requester DESC, c.id DESC LIMIT :limit) AS asking
  UNION
  SELECT id FROM (
    SELECT c.id FROM connections c WHERE (c.target, c.id) < (:agent, :before) AND c.target >= :agent AND {in_status}
    ORDER BY c.target DESC, c.id DESC LIMIT :limit) AS asked)
ORDER BY c.id DESC LIMIT :limit;

-- name: requests
-- What waits first, by its own index: in the order of all that ever was asked it would be looked for among what is settled.
WITH waiting AS MATERIALIZED (SELECT id FROM connections WHERE status = 'PENDING' AND expires_at > (SELECT office_now()))
SELECT {named_connection}
WHERE c.id IN (SELECT id FROM waiting WHERE id < :before ORDER BY id DESC LIMIT :limit)
ORDER BY c.id DESC;

-- name: requests_with
-- Each half by its own index of what waits, which is never much of one agent's.
SELECT {named_connection} WHERE c.id IN (
  SELECT id FROM connections WHERE status = 'PENDING' AND expires_at > (SELECT office_now()) AND requester = :agent AND target > ''
  UNION SELECT id FROM connections WHERE status = 'PENDING' AND expires_at > (SELECT office_now()) AND target = :agent)
  AND c.id < :before
ORDER BY c.id DESC LIMIT :limit;

-- name: expired_requests
SELECT CAST(id AS text) FROM connections WHERE status = 'PENDING' AND expires_at <= (SELECT office_now()) ORDER BY expires_at LIMIT :limit;

-- name: connection
SELECT {named_connection} WHERE c.id = :id;
