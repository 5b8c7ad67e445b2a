-- Attachments, on SQLite.

-- name: blob_kept
SELECT b.digest, b.upload, b.size,
  EXISTS (SELECT 1 FROM attachment_holdings h WHERE h.digest = b.digest) OR EXISTS (SELECT 1 FROM attachments a WHERE a.digest = b.digest)
FROM attachment_blobs b WHERE b.digest = ?1;

-- name: attachable
SELECT h.name, h.type, 1 FROM attachment_holdings h WHERE h.digest = ?1 AND h.agent = ?2
UNION ALL SELECT a.name, a.type, 0 FROM attachments a
JOIN deliveries d ON d.message_id = a.message_id AND d.mailbox = ?2 AND {let_through} WHERE a.digest = ?1
UNION ALL SELECT a.name, a.type, 0 FROM attachments a JOIN role_takes t ON t.message_id = a.message_id AND t.agent = ?2 WHERE a.digest = ?1
LIMIT 1;

-- name: kept_bytes
SELECT coalesce((SELECT sum(b.size) FROM attachment_holdings h JOIN attachment_blobs b ON b.digest = h.digest WHERE h.agent = ?1), 0)
  + coalesce((SELECT sum(coalesce(u.size, u.received)) FROM attachment_uploads u WHERE u.agent = ?1), 0),
  (SELECT count(*) FROM attachment_uploads u WHERE u.agent = ?1);

-- name: upload
SELECT id, agent, size, digest, name, type, received, touched_at FROM attachment_uploads WHERE id = ?1;

-- name: part_count
SELECT count(*) FROM attachment_parts WHERE upload = ?1;

-- name: add_attachment
INSERT INTO attachments (message_id, place, digest, sender, name, type) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: delete_attachments
DELETE FROM attachments WHERE message_id = ?1;

-- name: put_blob
INSERT INTO attachment_blobs (digest, upload, size, stored_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (digest) DO UPDATE SET upload = excluded.upload, size = excluded.size, stored_at = excluded.stored_at;

-- name: drop_blob
DELETE FROM attachment_blobs WHERE digest = ?1;

-- name: put_holding
INSERT INTO attachment_holdings (digest, agent, name, type, held_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (digest, agent) DO UPDATE SET name = excluded.name, type = excluded.type, held_at = excluded.held_at;

-- name: drop_holding
DELETE FROM attachment_holdings WHERE digest = ?1 AND agent = ?2 AND held_at = ?3;

-- name: put_upload
INSERT INTO attachment_uploads (id, agent, size, digest, name, type, received, touched_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (id) DO UPDATE SET received = excluded.received, touched_at = excluded.touched_at;

-- name: drop_upload
DELETE FROM attachment_uploads WHERE id = ?1;

-- name: add_part
INSERT INTO attachment_parts (upload, begin_at, size, name) VALUES (?1, ?2, ?3, ?4);

-- name: delete_parts
DELETE FROM attachment_parts WHERE upload = ?1;

-- name: add_rubbish
INSERT INTO attachment_rubbish (upload) VALUES (?1);

-- name: drop_rubbish
DELETE FROM attachment_rubbish WHERE upload = ?1;
