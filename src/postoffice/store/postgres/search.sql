-- Search, on PostgreSQL.

-- part: searched
split_part(c, '.', 1)::xid8, split_part(c, '.', 2)::bigint FROM (SELECT coalesce((SELECT value FROM cursors WHERE name = 'search'), '0.0') AS c) AS cursor

-- name: unindexed
SELECT e.tx::text || '.' || e.n, m.body
FROM events e LEFT JOIN messages m ON m.id = office_id(e.ref) AND e.kind IN ('new_message', 'note')
WHERE (e.tx, e.n) > (SELECT {searched})
  AND e.tx < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY e.tx, e.n LIMIT (SELECT max(k) FROM unnest($1::bigint[]) AS k);

-- name: add_search
INSERT INTO search (message_id, text) SELECT * FROM unnest($1::uuid[], $2::text[]) ON CONFLICT (message_id) DO NOTHING;

-- name: delete_search
DELETE FROM search WHERE message_id = ANY ($1::uuid[]);

-- part: looked_for
{reader}
  AND (:sender::text IS NULL OR m.sender = :sender)
  AND (:recipient::text IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.mailbox = :recipient))
  AND (:other::text IS NULL OR m.sender = :other OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.mailbox = :other))
  AND (:session::uuid IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.session_id = :session))
  AND (:type::text IS NULL OR m.type = :type)
  AND (:since::bigint IS NULL OR m.created_at >= :since)
  AND (:until::bigint IS NULL OR m.created_at < :until)

-- name: search
-- Newest first. A word that everybody uses is found among what was said last; a word that is not found there often enough is found by its index,
-- which knows no order: all that it finds has to be put in order before the first of it can be shown.
WITH last AS MATERIALIZED (
  SELECT message_id, words FROM search WHERE message_id < :before ORDER BY message_id DESC LIMIT 1000
), near AS MATERIALIZED (
  SELECT m.id FROM (SELECT message_id FROM last WHERE words @@ to_tsquery('simple', :query) ORDER BY message_id DESC) AS s
  JOIN messages m ON m.id = s.message_id WHERE {looked_for}
  ORDER BY m.id DESC LIMIT :limit
), said AS MATERIALIZED (
  SELECT message_id FROM search WHERE words @@ to_tsquery('simple', :query) AND (SELECT count(*) FROM near) < :limit
), far AS MATERIALIZED (
  SELECT m.id FROM (SELECT message_id FROM said WHERE message_id < (SELECT message_id FROM last ORDER BY message_id LIMIT 1)
                    ORDER BY message_id DESC) AS s
  JOIN messages m ON m.id = s.message_id WHERE {looked_for}
  ORDER BY m.id DESC LIMIT :limit
)
SELECT id::text FROM (SELECT id FROM near UNION ALL SELECT id FROM far) AS found ORDER BY id DESC LIMIT :limit;

-- part: among
SELECT message_id::text FROM search WHERE message_id = ANY (:ids::uuid[]) AND words @@ to_tsquery('simple', :query)

-- name: search_among
{among};

-- name: search_among_begun
{among};

-- name: search_filtered
-- Without words: so many messages are looked at and no more, the last of which is where to go on.
WITH last AS MATERIALIZED (SELECT id, sender, type, created_at FROM messages WHERE id < :before AND id >= :after ORDER BY id DESC LIMIT :most)
(SELECT m.id::text, NULL AS further FROM last m WHERE {looked_for} ORDER BY m.id DESC LIMIT :limit)
UNION ALL SELECT NULL, (SELECT id::text FROM last ORDER BY id LIMIT 1) WHERE (SELECT count(*) FROM last) = :most;

-- name: bodies
SELECT body FROM messages WHERE id = ANY (:ids::uuid[]) ORDER BY id DESC;
