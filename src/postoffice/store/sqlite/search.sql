-- Search, on SQLite.

-- part: readable
-- By whoever is no part of a session it is read only where that one is the owner, who is named by nothing.
({let_through} OR d.mailbox <> ?4) AND (?4 = '' OR EXISTS (SELECT 1 FROM sessions s WHERE s.id = ?1 AND ?4 IN (s.low, s.high)))

-- part: searched
CAST(coalesce((SELECT value FROM cursors WHERE name = 'search'), '0') AS INTEGER)

-- name: unindexed
SELECT CAST(e.n AS TEXT), m.body
FROM events e LEFT JOIN messages m ON m.id = e.ref AND e.kind IN ('new_message', 'note')
WHERE e.n > {searched}
ORDER BY e.n LIMIT ?1;

-- name: add_search
INSERT OR REPLACE INTO search (rowid, text) SELECT n, ?2 FROM messages WHERE id = ?1;

-- name: delete_search
DELETE FROM search WHERE rowid = (SELECT n FROM messages WHERE id = ?1);

-- part: looked_for
{reader}
  AND (:sender IS NULL OR m.sender = :sender)
  AND (:recipient IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.mailbox = :recipient))
  AND (:other IS NULL OR m.sender = :other OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.mailbox = :other))
  AND (:session IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND +d.session_id = :session))
  AND (:type IS NULL OR m.type = :type)
  AND (:since IS NULL OR m.created_at >= :since)
  AND (:until IS NULL OR m.created_at < :until)

-- name: search
-- Newest first, in the index's own order, so that a word that everybody uses costs no more than any other.
-- The next page begins where the last one ended; a session is not looked through for each message.
SELECT m.id
FROM search JOIN messages m ON m.n = search.rowid
WHERE search MATCH :query
  AND {looked_for}
  AND m.id < :before AND search.rowid <= coalesce((SELECT n FROM messages WHERE id = :before), (SELECT max(n) FROM messages))
ORDER BY search.rowid DESC LIMIT :limit;

-- part: among
(SELECT n FROM messages WHERE id IN (SELECT value FROM json_each(:ids)))

-- name: search_among
SELECT m.id FROM search JOIN messages m ON m.n = search.rowid WHERE search MATCH :query AND search.rowid IN {among};

-- name: search_among_begun
-- The words that begin so are put together once for each time the index is asked: so it is asked once, and not for each message.
SELECT m.id FROM search JOIN messages m ON m.n = search.rowid
WHERE search MATCH :query AND search.rowid BETWEEN (SELECT min(n) FROM {among}) AND (SELECT max(n) FROM {among}) AND +search.rowid IN {among};

-- name: search_filtered
-- Without words: so many messages are looked at and no more, the last of which is where to go on.
WITH last AS MATERIALIZED (SELECT n FROM messages WHERE id < :before AND id >= :after ORDER BY id DESC LIMIT :most)
SELECT id, NULL FROM (SELECT m.id FROM messages m WHERE m.n IN (SELECT n FROM last) AND {looked_for} ORDER BY m.id DESC LIMIT :limit)
UNION ALL SELECT NULL, min(m.id) FROM messages m WHERE m.n IN (SELECT n FROM last) HAVING count(*) = :most;

-- name: bodies
SELECT body FROM messages WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id DESC;
