-- Links to the page, and logins there, the same on both engines.

-- name: find_login
SELECT a.name, v.kind FROM visits v JOIN agents a ON a.agent = v.agent WHERE v.hash = :hash AND v.expires_at > office_now();
