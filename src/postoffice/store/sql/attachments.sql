-- Attachments, the same on both engines.

-- part: of_letters
-- The letters with these bytes that somebody sent, or has got, also as the one who took them for a role.
SELECT a.name, a.type, a.message_id FROM attachments a WHERE a.digest = :digest AND a.sender = :agent
UNION ALL SELECT a.name, a.type, a.message_id FROM attachments a
JOIN deliveries d ON d.message_id = a.message_id AND d.mailbox = :agent AND {let_through} WHERE a.digest = :digest
UNION ALL SELECT a.name, a.type, a.message_id FROM attachments a
JOIN role_takes t ON t.message_id = a.message_id AND t.agent = :agent WHERE a.digest = :digest

-- name: fetchable
-- What somebody may fetch: what they brought here or sent, what was sent to them, and for the owner what any letter carries.
SELECT b.digest, CAST(b.upload AS text), b.size, f.name, f.type FROM attachment_blobs b
JOIN (SELECT h.name, h.type, 0 AS turn FROM attachment_holdings h WHERE h.digest = :digest AND h.agent = :agent
      UNION ALL SELECT l.name, l.type, 1 FROM ({of_letters}) AS l
      UNION ALL SELECT a.name, a.type, 2 FROM attachments a WHERE a.digest = :digest AND :owner = 1) AS f ON TRUE
WHERE b.digest = :digest ORDER BY f.turn LIMIT 1;

-- name: held_by
SELECT b.digest, h.name, h.type, b.size FROM attachment_holdings h JOIN attachment_blobs b ON b.digest = h.digest
WHERE h.agent = :agent AND (CAST(:after AS text) IS NULL OR h.digest > :after) ORDER BY h.digest LIMIT :limit;

-- name: kept_for
SELECT coalesce((SELECT sum(b.size) FROM attachment_holdings h JOIN attachment_blobs b ON b.digest = h.digest WHERE h.agent = :agent), 0)
  + coalesce((SELECT sum(coalesce(u.size, u.received)) FROM attachment_uploads u WHERE u.agent = :agent), 0);

-- name: upload_by_id
SELECT CAST(id AS text), agent, size, digest, name, type, received, touched_at FROM attachment_uploads
WHERE id = :id AND agent = :agent;

-- name: parts_within
SELECT begin_at, size, name FROM attachment_parts WHERE upload = :upload AND begin_at < :end AND begin_at + size > :begin ORDER BY begin_at;

-- name: old_uploads
SELECT CAST(id AS text), agent FROM attachment_uploads WHERE touched_at < (SELECT office_now()) - :age ORDER BY touched_at LIMIT :limit;

-- name: unneeded_holdings
-- Brought or sent long ago, and in none of their letters (any more).
SELECT h.digest, h.agent, h.held_at FROM attachment_holdings h WHERE h.held_at < (SELECT office_now()) - :age
AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.digest = h.digest AND a.sender = h.agent) ORDER BY h.held_at LIMIT :limit;

-- name: unneeded_blobs
SELECT b.digest FROM attachment_blobs b WHERE NOT EXISTS (SELECT 1 FROM attachment_holdings h WHERE h.digest = b.digest)
AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.digest = b.digest) LIMIT :limit;

-- name: attachment_rubbish
SELECT CAST(upload AS text) FROM attachment_rubbish ORDER BY upload LIMIT :limit;
