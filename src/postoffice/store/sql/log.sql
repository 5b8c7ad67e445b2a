-- The log of events, the same on both engines.

-- name: events
-- With new mail comes what it says, so that whoever pushes it need not ask again.
SELECT e.mailbox, e.number, e.kind, e.ref, e.data, e.at, CAST(d.session_id AS text), m.body FROM {news_of_agent} e
LEFT JOIN deliveries d ON d.mailbox = e.mailbox AND d.message_id = CASE WHEN e.kind = 'new_message' THEN CAST(e.ref AS {id}) END AND {let_through}
LEFT JOIN messages m ON m.id = d.message_id
WHERE e.mailbox = :agent AND e.number > :after ORDER BY e.number LIMIT :limit;
