-- Notes, and what they are about, the same on both engines.

-- name: notes
SELECT m.body FROM messages m
WHERE m.ref_id = :entity AND {is_note} AND m.id < :before ORDER BY m.id DESC LIMIT :limit;

-- name: all_entities
SELECT id, type, notes, created_at, last_at FROM entities WHERE id > :after ORDER BY id LIMIT :limit;

-- name: about_entity
SELECT m.body FROM messages m WHERE m.ref_id = :entity AND ({is_note} OR {reader})
  AND m.id < :before ORDER BY m.id DESC LIMIT :limit;
