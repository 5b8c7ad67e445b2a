-- Lists, on SQLite.

-- name: lists_by_name
SELECT {list} FROM lists l WHERE l.list = ?1 AND l.ended_at IS NULL;

-- name: lists_by_id
SELECT {list} FROM lists l WHERE l.id = ?1;

-- name: list_members
SELECT {place_on_list} FROM list_members m WHERE m.list_id = ?1 AND m.place = 'member' ORDER BY m.agent;

-- name: list_places
SELECT {place_on_list} FROM lists l JOIN list_members m ON m.list_id = l.id WHERE l.list = ?1 AND l.ended_at IS NULL AND m.agent = ?2;

-- name: list_places_by_id
SELECT {place_on_list} FROM list_members m WHERE m.list_id = ?1 AND m.agent = ?2;

-- name: list_numbers
SELECT message_id, number FROM list_letters WHERE message_id = ?1;

-- name: count_lists
SELECT count(*) FROM lists WHERE owner = ?1 AND ended_at IS NULL;

-- name: put_list
INSERT INTO lists (id, list, name, description, owner, who_may_post, who_may_join, history, posters, members, counted, replies_left, created_at,
                   last_at, ended_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (id) DO UPDATE SET description = excluded.description, who_may_post = excluded.who_may_post, who_may_join = excluded.who_may_join,
  history = excluded.history, posters = excluded.posters, members = excluded.members, counted = excluded.counted,
  replies_left = excluded.replies_left, last_at = excluded.last_at, ended_at = excluded.ended_at;

-- name: put_list_member
INSERT INTO list_members (list_id, agent, place, added_by, since, floor, begins, ends, unread, last_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9)
ON CONFLICT (list_id, agent) DO UPDATE SET place = excluded.place, added_by = excluded.added_by, since = excluded.since, floor = excluded.floor,
  begins = excluded.begins, ends = excluded.ends, last_at = max(last_at, excluded.last_at);

-- name: count_list_unread
UPDATE list_members SET unread = unread + ?3, last_at = max(last_at, ?4) WHERE list_id = ?1 AND agent = ?2;

-- name: add_list_letter
INSERT INTO list_letters (list_id, number, message_id, sender, canceled) VALUES (?1, ?2, ?3, ?4, 0);

-- name: cancel_list_letter
UPDATE list_letters SET canceled = 1 WHERE message_id = ?1;

-- name: delete_list_letter
DELETE FROM list_letters WHERE message_id = ?1;
