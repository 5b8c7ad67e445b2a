-- The database itself, the same on both engines.

-- name: oldest_program
SELECT value FROM about WHERE name = 'oldest_program';
