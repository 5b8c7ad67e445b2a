-- Links to the page, and logins there, on SQLite.

-- name: login
-- With the end of the first of its agent's keys to end, if one of them does.
SELECT agent, kind, expires_at, (SELECT min(k.expires_at) FROM keys k WHERE k.agent = v.agent AND k.revoked_at IS NULL AND k.expires_at > office_now())
FROM visits v WHERE hash = ?1;

-- name: add_login
INSERT INTO visits (hash, agent, kind, expires_at) VALUES (?1, ?2, ?3, ?4);

-- name: delete_login
DELETE FROM visits WHERE hash = ?1;

-- name: end_logins_of
UPDATE visits SET expires_at = ?2 WHERE agent = ?1 AND expires_at > ?2;

-- name: forget_logins
DELETE FROM visits WHERE expires_at < ?1;
