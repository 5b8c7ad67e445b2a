-- Lists, who is on them, and what was written to them, the same on both engines.

-- part: list
CAST(l.id AS text), l.list, l.name, l.description, l.owner, l.who_may_post, l.who_may_join, l.history, l.posters, l.members, l.counted, l.replies_left,
l.created_at, l.last_at, l.ended_at

-- part: place_on_list
CAST(m.list_id AS text), m.agent, m.place, m.added_by, m.since, m.floor, m.begins, m.ends

-- part: unread_of_list
-- What is held counts as unread, and its reader is not told of it.
coalesce(m.unread, 0) - (SELECT count(*) FROM deliveries h WHERE h.mailbox = m.agent AND h.state = 'held' AND h.session_id = m.list_id)

-- part: list_as_seen
SELECT {list}, o.name, m.place, {unread_of_list} FROM lists l JOIN agents o ON o.agent = l.owner
LEFT JOIN list_members m ON m.list_id = l.id AND m.agent = :agent

-- name: list_named
{list_as_seen} WHERE l.list = :list AND l.ended_at IS NULL;

-- name: list_of_session
{list_as_seen} WHERE l.id = :id;

-- name: lists
{list_as_seen} WHERE l.list > :after AND l.ended_at IS NULL ORDER BY l.list LIMIT :limit;

-- name: lists_of
-- Those an agent is on, or may come to.
{list_as_seen} WHERE l.list > :after AND l.ended_at IS NULL AND l.id IN (SELECT list_id FROM list_members WHERE agent = :agent AND place <> 'left')
ORDER BY l.list LIMIT :limit;

-- name: place_of_reader
SELECT {place_on_list} FROM list_members m WHERE m.list_id = :id AND m.agent = :agent;

-- name: members_of_list
SELECT a.name, m.place, b.name, m.since, m.agent FROM list_members m JOIN agents a ON a.agent = m.agent JOIN agents b ON b.agent = m.added_by
WHERE m.list_id = :id AND m.agent > :after AND m.place <> 'left' ORDER BY m.agent LIMIT :limit;

-- name: list_threads
-- An agent is on few lists. One on which it has nothing to read yet is no thread.
SELECT CAST(l.id AS text), {unread_of_list}, l.created_at, m.last_at, l.name FROM list_members m JOIN lists l ON l.id = m.list_id
WHERE m.agent = :agent AND m.place <> 'invited' AND m.last_at > 0 AND (m.last_at, m.list_id) < (:before, :before_id)
ORDER BY m.last_at DESC, m.list_id DESC LIMIT :limit;

-- name: list_lines
-- What its reader got or wrote, and of the rest what was said while it was on the list, or before where the list has that read. Nobody: the owner, who sees all.
SELECT n.number, m.body, d.state, d.seen_at, d.attempts, d.number, d.due_at, d.settled_at, d.leased_at, d.reason
FROM list_letters n JOIN messages m ON m.id = n.message_id LEFT JOIN deliveries d ON d.message_id = n.message_id AND d.mailbox = :reader
WHERE n.list_id = :id AND n.number < :before AND n.number >= :floor
  AND (CAST(:reader AS text) IS NULL OR n.sender = :reader OR (d.message_id IS NOT NULL AND {let_through})
       OR (d.message_id IS NULL AND NOT n.canceled AND n.number >= :begins AND n.number <= :ends))
ORDER BY n.number DESC LIMIT :limit;

-- name: list_letter_number
SELECT n.number FROM list_letters n WHERE n.message_id = :message AND CAST(n.list_id AS text) = :session;
