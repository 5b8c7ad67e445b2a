-- Attachments, on PostgreSQL.

-- name: blob_kept
SELECT b.digest, CAST(b.upload AS text), b.size,
  EXISTS (SELECT 1 FROM attachment_holdings h WHERE h.digest = b.digest) OR EXISTS (SELECT 1 FROM attachments a WHERE a.digest = b.digest)
FROM attachment_blobs b WHERE b.digest = ANY ($1::text[]);

-- name: attachable
SELECT f.name, f.type, f.held FROM unnest($1::text[], $2::text[]) AS k (digest, agent)
CROSS JOIN LATERAL (
  SELECT h.name, h.type, 1 AS held FROM attachment_holdings h WHERE h.digest = k.digest AND h.agent = k.agent
  UNION ALL SELECT a.name, a.type, 0 FROM attachments a
  JOIN deliveries d ON d.message_id = a.message_id AND d.mailbox = k.agent AND {let_through} WHERE a.digest = k.digest
  UNION ALL SELECT a.name, a.type, 0 FROM attachments a
  JOIN role_takes t ON t.message_id = a.message_id AND t.agent = k.agent WHERE a.digest = k.digest
  LIMIT 1) AS f;

-- name: kept_bytes
SELECT CAST(coalesce((SELECT sum(b.size) FROM attachment_holdings h JOIN attachment_blobs b ON b.digest = h.digest WHERE h.agent = k.agent), 0)
  + coalesce((SELECT sum(coalesce(u.size, u.received)) FROM attachment_uploads u WHERE u.agent = k.agent), 0) AS bigint),
  (SELECT count(*) FROM attachment_uploads u WHERE u.agent = k.agent)
FROM unnest($1::text[]) AS k (agent);

-- name: upload
SELECT CAST(id AS text), agent, size, digest, name, type, received, touched_at FROM attachment_uploads WHERE id = ANY ($1::uuid[]);

-- name: part_count
SELECT count(*) FROM attachment_parts WHERE upload = ANY ($1::uuid[]);

-- name: add_attachment
INSERT INTO attachments (message_id, place, digest, sender, name, type)
SELECT * FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::text[]);

-- name: delete_attachments
DELETE FROM attachments WHERE message_id = ANY ($1::uuid[]);

-- name: put_blob
INSERT INTO attachment_blobs (digest, upload, size, stored_at) SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[])
ON CONFLICT (digest) DO UPDATE SET upload = excluded.upload, size = excluded.size, stored_at = excluded.stored_at;

-- name: drop_blob
DELETE FROM attachment_blobs WHERE digest = ANY ($1::text[]);

-- name: put_holding
INSERT INTO attachment_holdings (digest, agent, name, type, held_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
ON CONFLICT (digest, agent) DO UPDATE SET name = excluded.name, type = excluded.type, held_at = excluded.held_at;

-- name: drop_holding
DELETE FROM attachment_holdings h USING unnest($1::text[], $2::text[], $3::bigint[]) AS k (digest, agent, held_at)
WHERE h.digest = k.digest AND h.agent = k.agent AND h.held_at = k.held_at;

-- name: put_upload
INSERT INTO attachment_uploads (id, agent, size, digest, name, type, received, touched_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[])
ON CONFLICT (id) DO UPDATE SET received = excluded.received, touched_at = excluded.touched_at;

-- name: drop_upload
DELETE FROM attachment_uploads WHERE id = ANY ($1::uuid[]);

-- name: add_part
INSERT INTO attachment_parts (upload, begin_at, size, name)
SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::integer[], $4::text[]);

-- name: delete_parts
DELETE FROM attachment_parts WHERE upload = ANY ($1::uuid[]);

-- name: add_rubbish
INSERT INTO attachment_rubbish (upload) SELECT * FROM unnest($1::uuid[]);

-- name: drop_rubbish
DELETE FROM attachment_rubbish WHERE upload = ANY ($1::uuid[]);

-- name: keep_bytes
INSERT INTO attachment_bytes (upload, name, bytes) VALUES (:upload, :part, :bytes) ON CONFLICT (upload, name) DO NOTHING;

-- name: read_bytes
SELECT substring(bytes FROM CAST(:begin AS integer) + 1 FOR CAST(:size AS integer)) FROM attachment_bytes WHERE upload = :upload AND name = :part;

-- name: drop_bytes
DELETE FROM attachment_bytes WHERE upload = :upload;
