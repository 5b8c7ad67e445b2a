-- Talk without end, on SQLite.

-- name: memories
SELECT agent, body, refreshed_at FROM memories WHERE agent = ?1;

-- name: put_memory
INSERT INTO memories (agent, body, refreshed_at) VALUES (?1, ?2, ?3)
ON CONFLICT (agent) DO UPDATE SET body = excluded.body, refreshed_at = excluded.refreshed_at;

-- name: put_long_talk
INSERT INTO long_talks (session_id, low, high, letters, at, held_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (session_id) DO UPDATE SET letters = excluded.letters, held_at = excluded.held_at;

-- name: ask_long_talk
UPDATE long_talks SET question_id = ?2 WHERE session_id = ?1;

-- name: delete_long_talks
DELETE FROM long_talks WHERE low = ?1 OR high = ?1;
