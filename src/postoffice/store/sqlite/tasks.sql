-- Tasks, on SQLite.

-- name: tasks_by_ref
SELECT {task}
FROM tasks WHERE message_id = ?1
UNION
SELECT {task}
FROM tasks WHERE id = ?1;

-- name: under_way
SELECT assignee, count(*) FROM tasks WHERE assignee = ?1 AND state IN ('accepted', 'working') GROUP BY assignee;

-- name: add_task
INSERT INTO tasks (message_id, id, requester, assignee, state, subject, session_id, deadline, callback, steps, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11);

-- name: update_task
UPDATE tasks SET state = ?2, overdue = ?3, steps = ?4, updated_at = ?5 WHERE message_id = ?1;
