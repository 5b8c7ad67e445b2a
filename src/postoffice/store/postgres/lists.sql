-- Lists, on PostgreSQL. Whoever writes to a list, joins it or changes it has locked it, before any mailbox: so its letters stand in one order, and who
-- gets one is what was true when it was accepted.

-- name: lists_by_name
SELECT {list} FROM lists l WHERE l.list = ANY ($1::text[]) AND l.ended_at IS NULL ORDER BY l.list FOR UPDATE;

-- name: lists_by_id
SELECT {list} FROM lists l WHERE l.id = ANY ($1::uuid[]) ORDER BY l.list FOR UPDATE;

-- name: list_members
SELECT {place_on_list} FROM list_members m WHERE m.list_id = ANY ($1::uuid[]) AND m.place = 'member' ORDER BY m.agent;

-- name: list_places
SELECT {place_on_list} FROM unnest($1::text[], $2::text[]) AS k (list, agent) JOIN lists l ON l.list = k.list AND l.ended_at IS NULL
JOIN list_members m ON m.list_id = l.id AND m.agent = k.agent;

-- name: list_places_by_id
SELECT {place_on_list} FROM unnest($1::uuid[], $2::text[]) AS k (id, agent) JOIN list_members m ON m.list_id = k.id AND m.agent = k.agent;

-- name: list_numbers
SELECT CAST(message_id AS text), number FROM list_letters WHERE message_id = ANY ($1::uuid[]);

-- name: count_lists
SELECT count(*) FROM lists WHERE owner = ANY ($1::text[]) AND ended_at IS NULL;

-- name: put_list
INSERT INTO lists (id, list, name, description, owner, who_may_post, who_may_join, history, posters, members, counted, replies_left, created_at,
                   last_at, ended_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::bigint[],
                     $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[])
ON CONFLICT (id) DO UPDATE SET description = excluded.description, who_may_post = excluded.who_may_post, who_may_join = excluded.who_may_join,
  history = excluded.history, posters = excluded.posters, members = excluded.members, counted = excluded.counted,
  replies_left = excluded.replies_left, last_at = excluded.last_at, ended_at = excluded.ended_at;

-- name: put_list_member
INSERT INTO list_members AS m (list_id, agent, place, added_by, since, floor, begins, ends, last_at, unread)
SELECT *, 0 FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])
ON CONFLICT (list_id, agent) DO UPDATE SET place = excluded.place, added_by = excluded.added_by, since = excluded.since, floor = excluded.floor,
  begins = excluded.begins, ends = excluded.ends, last_at = greatest(m.last_at, excluded.last_at);

-- name: count_list_unread
UPDATE list_members m SET unread = m.unread + v.by, last_at = greatest(m.last_at, v.last_at)
FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[]) AS v (list_id, agent, by, last_at) WHERE m.list_id = v.list_id AND m.agent = v.agent;

-- name: add_list_letter
INSERT INTO list_letters (list_id, number, message_id, sender, canceled)
SELECT list_id, number, message_id, sender, false
FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[]) AS v (list_id, number, message_id, sender);

-- name: cancel_list_letter
UPDATE list_letters SET canceled = true WHERE message_id = ANY ($1::uuid[]);

-- name: delete_list_letter
DELETE FROM list_letters WHERE message_id = ANY ($1::uuid[]);
