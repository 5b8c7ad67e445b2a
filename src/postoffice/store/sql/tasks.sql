-- Tasks, the same on both engines.

-- part: open
('pending', 'accepted', 'working')

-- part: task
CAST(t.message_id AS text), t.id, t.requester, t.assignee, t.state, t.subject, CAST(t.session_id AS text), t.deadline, t.overdue, t.callback, t.steps,
t.created_at, t.updated_at, CAST(t.parent AS text), t.percent, t.blocked, t.gone, {blockers},
(SELECT count(*) FROM tasks c WHERE c.parent = t.message_id AND c.state IN {open}), t.role

-- name: tasks_under_way
SELECT id FROM tasks WHERE assignee = :agent AND state IN ('accepted', 'working') ORDER BY message_id;

-- name: overdue_tasks
SELECT CAST(message_id AS text) FROM tasks
WHERE deadline <= (SELECT office_now()) AND deadline IS NOT NULL AND overdue = {false} AND state IN ('pending', 'accepted', 'working')
ORDER BY deadline LIMIT :limit;

-- name: unblocked_tasks
SELECT CAST(t.message_id AS text) FROM tasks t
WHERE t.blocked = {true} AND t.state IN {open} AND NOT EXISTS (
  SELECT 1 FROM task_links l JOIN tasks b ON b.message_id = l.blocker WHERE l.message_id = t.message_id AND b.state IN {open})
  AND {asked}
ORDER BY t.message_id LIMIT :limit;

-- name: gone_tasks
-- Under way with an agent that works in windows, has none, and has been silent for so long.
SELECT CAST(t.message_id AS text) FROM tasks t JOIN agents a ON a.agent = t.assignee JOIN window_names w ON w.agent = t.assignee
WHERE t.state IN ('accepted', 'working') AND t.gone = {false} AND t.updated_at <= (SELECT office_now()) - :silent
  AND coalesce(a.last_seen, 0) <= (SELECT office_now()) - :silent
  AND NOT EXISTS (SELECT 1 FROM windows o WHERE o.agent = t.assignee AND o.until > (SELECT office_now()))
ORDER BY t.message_id LIMIT :limit;

-- part: named_task
{task}, r.name, a.name
FROM tasks t JOIN agents r ON r.agent = t.requester JOIN agents a ON a.agent = t.assignee

-- name: tasks
SELECT {named_task} WHERE t.message_id < :before AND (CAST(:state AS text) IS NULL OR t.state = :state) ORDER BY t.message_id DESC LIMIT :limit;

-- part: in_state
(CAST(:state AS text) IS NULL OR state = :state)

-- part: asked
-- Of whom a task is to be asked hears of it when the message that asks is let through. A value, and not a condition: PostgreSQL would
-- rather read all that is held back, of which it expects little, than one delivery for each task.
(SELECT {let_through} FROM deliveries d WHERE d.message_id = t.message_id AND d.mailbox = t.assignee) IS NOT FALSE

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
