-- Talk without end, on PostgreSQL.

-- name: memories
SELECT agent, body, refreshed_at FROM memories WHERE agent = ANY ($1::text[]);

-- name: put_memory
INSERT INTO memories (agent, body, refreshed_at) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
ON CONFLICT (agent) DO UPDATE SET body = excluded.body, refreshed_at = excluded.refreshed_at;

-- name: put_long_talk
INSERT INTO long_talks (session_id, low, high, letters, at, held_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
ON CONFLICT (session_id) DO UPDATE SET letters = excluded.letters, held_at = excluded.held_at;

-- name: ask_long_talk
UPDATE long_talks t SET question_id = v.question_id FROM unnest($1::uuid[], $2::uuid[]) AS v (session_id, question_id) WHERE t.session_id = v.session_id;

-- name: delete_long_talks
DELETE FROM long_talks WHERE low = ANY ($1::text[]) OR high = ANY ($1::text[]);
