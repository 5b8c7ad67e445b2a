-- Links by which one question is answered, on PostgreSQL.

-- name: answer_link
SELECT hash FROM answer_links WHERE id = ANY ($1::text[]);

-- name: add_answer_link
INSERT INTO answer_links (hash, id, question, webhook, created_at, expires_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]);

-- name: delete_answer_link
DELETE FROM answer_links WHERE id = ANY ($1::text[]);

-- name: forget_answer_links
DELETE FROM answer_links WHERE expires_at < ANY ($1::bigint[]);
