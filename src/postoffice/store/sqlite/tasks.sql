-- Tasks, on SQLite.

-- part: blockers
(SELECT group_concat(l.blocker || ':' || b.state || ':' || b.assignee, ' ')
 FROM task_links l JOIN tasks b ON b.message_id = l.blocker WHERE l.message_id = t.message_id)

-- name: tasks_by_ref
SELECT {task}
FROM tasks t WHERE t.message_id = ?1
UNION
SELECT {task}
FROM tasks t WHERE t.id = ?1;

-- name: open_parts
SELECT c.parent, count(*) FROM tasks c
WHERE c.parent IN (SELECT message_id FROM tasks WHERE message_id = ?1 UNION SELECT message_id FROM tasks WHERE id = ?1) AND c.state IN {open}
GROUP BY c.parent;

-- name: task_reach
-- All that is not over and that a task waits for, by however many others: what blocks it, and its parts.
WITH RECURSIVE reach (id) AS (
  SELECT message_id FROM tasks WHERE message_id = ?1 AND state IN {open}
  UNION SELECT message_id FROM tasks WHERE id = ?1 AND state IN {open}
  UNION SELECT b.message_id FROM reach JOIN task_links l ON l.message_id = reach.id JOIN tasks b ON b.message_id = l.blocker WHERE b.state IN {open}
  UNION SELECT c.message_id FROM reach JOIN tasks c ON c.parent = reach.id WHERE c.state IN {open}
)
SELECT id FROM reach;

-- name: delete_task_links
DELETE FROM task_links WHERE message_id = ?1 OR blocker = ?1;

-- name: add_task_link
INSERT INTO task_links (message_id, blocker) VALUES (?1, ?2);

-- name: under_way
SELECT assignee, count(*) FROM tasks WHERE assignee = ?1 AND state IN ('accepted', 'working') GROUP BY assignee;

-- name: add_task
INSERT INTO tasks (message_id, id, requester, assignee, state, subject, session_id, deadline, callback, steps, created_at, updated_at, parent, blocked)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, ?13);

-- name: update_task
UPDATE tasks SET state = ?2, overdue = ?3, steps = ?4, updated_at = ?5, percent = ?6, blocked = ?7, gone = ?8 WHERE message_id = ?1;

-- name: assign_task
UPDATE tasks SET assignee = ?2, role = ?3 WHERE message_id = ?1;
