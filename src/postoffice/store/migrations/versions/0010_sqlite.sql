-- Where a mailbox's news and a session's lines stand is put into these indexes some hundred rows at a time. All that there is by now is in them.
ALTER TABLE events ADD COLUMN filed INTEGER NOT NULL DEFAULT 1;
ALTER TABLE deliveries ADD COLUMN filed INTEGER NOT NULL DEFAULT 1;
DROP INDEX events_mailbox;
DROP INDEX deliveries_session;
CREATE INDEX events_mailbox ON events (mailbox, number) WHERE filed = 1;
CREATE INDEX deliveries_session ON deliveries (session_id, session_number) WHERE session_id IS NOT NULL AND filed = 1;
INSERT INTO cursors (name, value) SELECT 'filed_news', CAST(coalesce(max(n), 0) AS TEXT) FROM events;
INSERT INTO cursors (name, value) SELECT 'filed_mail', CAST(coalesce(max(id), 0) AS TEXT) FROM deliveries;
