-- Links to the page, and logins there, on PostgreSQL.

-- name: login
-- With the end of the first of its agent's keys to end, if one of them does.
SELECT agent, kind, expires_at, (SELECT min(k.expires_at) FROM keys k WHERE k.agent = v.agent AND k.revoked_at IS NULL AND k.expires_at > office_now())
FROM visits v WHERE hash = ANY ($1::text[]);

-- name: add_login
INSERT INTO visits (hash, agent, kind, expires_at) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]);

-- name: delete_login
DELETE FROM visits WHERE hash = ANY ($1::text[]);

-- name: end_logins_of
UPDATE visits SET expires_at = v.at FROM unnest($1::text[], $2::bigint[]) AS v (agent, at)
WHERE visits.agent = v.agent AND visits.expires_at > v.at;

-- name: forget_logins
DELETE FROM visits WHERE expires_at < ANY ($1::bigint[]);
