-- The database itself, on SQLite.

-- name: now
SELECT office_now();
