-- Notes, and what they are about, on SQLite.

-- part: is_note
-- Here LIKE would take capitals for small letters.
m.type GLOB '*.note'

-- name: entities
SELECT id, type, notes, created_at FROM entities WHERE id = ?1;

-- name: put_entity
INSERT INTO entities (id, type, notes, created_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (id) DO UPDATE SET notes = excluded.notes, last_at = excluded.last_at;
