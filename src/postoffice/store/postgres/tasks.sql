-- Tasks, on PostgreSQL.

-- name: tasks_by_ref
SELECT {task} FROM tasks WHERE message_id = ANY (ARRAY(SELECT office_id(k) FROM unnest($1::text[]) AS k)) OR id = ANY ($1::text[]);

-- name: under_way
SELECT assignee, count(*) FROM tasks WHERE assignee = ANY ($1::text[]) AND state IN ('accepted', 'working') GROUP BY assignee;

-- name: add_task
INSERT INTO tasks (message_id, id, requester, assignee, state, subject, session_id, deadline, callback, steps, created_at, updated_at)
SELECT v.*, v.created_at FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::bigint[],
                                     $9::text[], $10::text[], $11::bigint[])
  AS v (message_id, id, requester, assignee, state, subject, session_id, deadline, callback, steps, created_at);

-- name: update_task
UPDATE tasks t SET state = v.state, overdue = v.overdue, steps = v.steps, updated_at = v.updated_at
FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::text[], $5::bigint[]) AS v (message_id, state, overdue, steps, updated_at)
WHERE t.message_id = v.message_id;
