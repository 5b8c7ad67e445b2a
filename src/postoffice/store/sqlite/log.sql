-- The log of events, on SQLite.

-- part: filed_news
(SELECT CAST(value AS INTEGER) FROM cursors WHERE name = 'filed_news')

-- part: news_of_agent
(SELECT * FROM (SELECT * FROM events WHERE mailbox = :agent AND number > :after AND filed = 1 ORDER BY number LIMIT :limit)
 UNION ALL SELECT * FROM events WHERE n > {filed_news} AND filed = 0 AND mailbox = :agent AND number > :after)

-- name: file_news
UPDATE events SET filed = 1 WHERE n > {filed_news} AND filed = 0;

-- name: note_filed
UPDATE cursors SET value = CAST(coalesce(CASE name WHEN 'filed_news' THEN (SELECT max(n) FROM events) ELSE (SELECT max(id) FROM deliveries) END, 0) AS TEXT)
WHERE name IN ('filed_news', 'filed_mail');

-- name: add_event
INSERT INTO events (mailbox, number, kind, ref, data, at, filed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0);

-- name: all_events
SELECT mailbox, number, kind, ref, data, at, CAST(n AS TEXT) FROM events WHERE n > CAST(:after AS INTEGER) ORDER BY n LIMIT :limit;

-- name: last_event
SELECT CAST(coalesce(max(n), 0) AS TEXT) FROM events;

-- name: look
-- Of what is paused nothing can be taken.
SELECT agent, CASE WHEN paused_at IS NOT NULL AND (paused_until IS NULL OR paused_until > office_now()) THEN 0 ELSE pending END, counted
FROM mailboxes WHERE agent IN (SELECT value FROM json_each(:agents));
