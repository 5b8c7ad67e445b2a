-- Links by which one question is answered, the same on both engines. Without its address no link opens anything.

-- part: answer_link_row
l.id, l.question, w.name, w.notify, l.created_at, l.expires_at FROM answer_links l JOIN webhooks w ON w.id = l.webhook

-- name: answer_link_by_hash
SELECT {answer_link_row} WHERE l.hash = :hash AND l.expires_at > (SELECT office_now());

-- name: answer_links
SELECT {answer_link_row} WHERE l.expires_at > (SELECT office_now()) ORDER BY l.created_at DESC, l.id LIMIT :limit;
