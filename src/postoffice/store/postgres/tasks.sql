-- Tasks, on PostgreSQL.

-- part: blockers
(SELECT string_agg(CAST(l.blocker AS text) || ':' || b.state || ':' || b.assignee, ' ')
 FROM task_links l JOIN tasks b ON b.message_id = l.blocker WHERE l.message_id = t.message_id)

-- part: named_by_key
(message_id = ANY (ARRAY(SELECT office_id(k) FROM unnest($1::text[]) AS k)) OR id = ANY ($1::text[]))

-- name: tasks_by_ref
SELECT {task} FROM tasks t WHERE {named_by_key};

-- name: open_parts
SELECT CAST(c.parent AS text), count(*) FROM tasks c
WHERE c.parent IN (SELECT message_id FROM tasks WHERE {named_by_key}) AND c.state IN {open} GROUP BY c.parent;

-- name: task_reach
-- All that is not over and that a task waits for, by however many others: what blocks it, and its parts.
WITH RECURSIVE reach (id) AS (
  SELECT message_id FROM tasks WHERE {named_by_key} AND state IN {open}
  UNION
  SELECT n.message_id FROM reach, LATERAL (
    SELECT b.message_id FROM task_links l JOIN tasks b ON b.message_id = l.blocker WHERE l.message_id = reach.id AND b.state IN {open}
    UNION ALL
    SELECT c.message_id FROM tasks c WHERE c.parent = reach.id AND c.state IN {open}) AS n
)
SELECT CAST(id AS text) FROM reach;

-- name: delete_task_links
DELETE FROM task_links WHERE message_id = ANY ($1::uuid[]) OR blocker = ANY ($1::uuid[]);

-- name: add_task_link
INSERT INTO task_links (message_id, blocker) SELECT * FROM unnest($1::uuid[], $2::uuid[]);

-- name: under_way
SELECT assignee, count(*) FROM tasks WHERE assignee = ANY ($1::text[]) AND state IN ('accepted', 'working') GROUP BY assignee;

-- name: add_task
INSERT INTO tasks (message_id, id, requester, assignee, state, subject, session_id, deadline, callback, steps, created_at, parent, blocked, updated_at)
SELECT v.*, v.created_at FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::bigint[],
                                     $9::text[], $10::text[], $11::bigint[], $12::uuid[], $13::boolean[])
  AS v (message_id, id, requester, assignee, state, subject, session_id, deadline, callback, steps, created_at, parent, blocked);

-- name: update_task
UPDATE tasks t SET state = v.state, overdue = v.overdue, steps = v.steps, updated_at = v.updated_at,
  percent = v.percent, blocked = v.blocked, gone = v.gone
FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::text[], $5::bigint[], $6::bigint[], $7::boolean[], $8::boolean[])
  AS v (message_id, state, overdue, steps, updated_at, percent, blocked, gone)
WHERE t.message_id = v.message_id;

-- name: assign_task
UPDATE tasks t SET assignee = v.assignee, role = v.role FROM unnest($1::uuid[], $2::text[], $3::text[]) AS v (message_id, assignee, role)
WHERE t.message_id = v.message_id;
