-- Links by which one question is answered, on SQLite.

-- name: answer_link
SELECT hash FROM answer_links WHERE id = ?1;

-- name: add_answer_link
INSERT INTO answer_links (hash, id, question, webhook, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: delete_answer_link
DELETE FROM answer_links WHERE id = ?1;

-- name: forget_answer_links
DELETE FROM answer_links WHERE expires_at < ?1;
