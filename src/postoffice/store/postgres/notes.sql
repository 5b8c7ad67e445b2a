-- Notes, and what they are about, on PostgreSQL.

-- part: is_note
m.type LIKE '%.note'

-- name: entities
SELECT id, type, notes, created_at FROM entities WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE;

-- name: put_entity
INSERT INTO entities (id, type, notes, created_at, last_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
ON CONFLICT (id) DO UPDATE SET notes = excluded.notes, last_at = excluded.last_at;
