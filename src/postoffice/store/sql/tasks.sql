-- Tasks, the same on both engines.

-- part: task
CAST(message_id AS text), id, requester, assignee, state, subject, CAST(session_id AS text), deadline, overdue, callback, steps, created_at, updated_at

-- name: tasks_under_way
SELECT id FROM tasks WHERE assignee = :agent AND state IN ('accepted', 'working') ORDER BY message_id;

-- name: overdue_tasks
SELECT CAST(message_id AS text) FROM tasks
WHERE deadline <= (SELECT office_now()) AND deadline IS NOT NULL AND overdue = {false} AND state IN ('pending', 'accepted', 'working')
ORDER BY deadline LIMIT :limit;

-- part: named_task
CAST(t.message_id AS text), t.id, t.requester, t.assignee, t.state, t.subject, CAST(t.session_id AS text), t.deadline, t.overdue, t.callback, t.steps,
t.created_at, t.updated_at, r.name, a.name
FROM tasks t JOIN agents r ON r.agent = t.requester JOIN agents a ON a.agent = t.assignee

-- name: tasks
SELECT {named_task} WHERE t.message_id < :before AND (CAST(:state AS text) IS NULL OR t.state = :state) ORDER BY t.message_id DESC LIMIT :limit;

-- part: in_state
(CAST(:state AS text) IS NULL OR state = :state)

-- part: asked
-- Of whom a task is to be asked hears of it when the message that asks is let through.
NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = t.message_id AND d.mailbox = t.assignee AND NOT {let_through})

-- name: tasks_asked_of
-- An agent's are a stretch of its index, read from the end: to PostgreSQL an agent in an equation has few of them, all to be read and sorted.
SELECT {named_task} WHERE t.message_id IN (
  SELECT message_id FROM tasks t WHERE (assignee, message_id) < (:assignee, :before) AND assignee >= :assignee AND {in_state} AND {asked}
  ORDER BY assignee DESC, message_id DESC LIMIT :limit)
ORDER BY t.message_id DESC;

-- name: tasks_asked_by
SELECT {named_task} WHERE t.message_id IN (
  SELECT message_id FROM tasks WHERE (requester, message_id) < (:requester, :before) AND requester >= :requester AND {in_state}
  ORDER BY requester DESC, message_id DESC LIMIT :limit)
ORDER BY t.message_id DESC;

-- name: tasks_between
SELECT {named_task} WHERE t.message_id IN (
  SELECT message_id FROM tasks t WHERE (assignee, message_id) < (:assignee, :before) AND assignee >= :assignee
    AND (requester, message_id) < (:requester, :before) AND requester >= :requester AND {in_state} AND {asked}
  ORDER BY assignee DESC, message_id DESC LIMIT :limit)
ORDER BY t.message_id DESC;

-- name: open_tasks
SELECT {named_task}
WHERE t.state IN ('pending', 'accepted', 'working') AND t.state = :state
  AND (CAST(:agent AS text) IS NULL OR (t.assignee = :agent AND {asked}) OR t.requester = :agent)
  AND t.message_id > :after
ORDER BY t.message_id LIMIT :limit;

-- name: finished_tasks
SELECT {named_task}
WHERE t.state IN ('completed', 'rejected', 'failed', 'canceled') AND t.message_id < :before
ORDER BY t.message_id DESC LIMIT :limit;
