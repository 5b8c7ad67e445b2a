-- What waits for a person, the same on both engines. What is snoozed is held, and waits for nobody.

-- part: asked_question
q.state = 'open' AND q.person = :agent
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = q.message_id AND d.mailbox = q.person AND d.state = 'held')

-- part: asked_task
t.assignee = :agent AND t.state IN ('pending', 'accepted', 'working')
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = t.message_id AND d.mailbox = t.assignee AND d.state = 'held')

-- part: asked_consent
c.status = 'PENDING' AND c.requester <> :agent AND (c.target = :agent OR CAST(:everyone AS bigint) = 1)

-- part: letter_waits
-- An open question and an unfinished task wait as what they are.
d.mailbox = :agent AND d.state = 'pending' AND {unexpired} AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.message_id = d.message_id AND q.state = 'open')
  AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.message_id = d.message_id AND t.assignee = d.mailbox AND t.state IN ('pending', 'accepted', 'working'))

-- part: dead_waits
d.state = 'dead' AND coalesce(d.reason, '') <> 'canceled' AND ((d.mailbox = :agent AND d.deliver_at IS NULL) OR CAST(:everyone AS bigint) = 1)

-- part: rung_in_vain
r.told_at IS NOT NULL AND r.turn_at IS NULL AND d.state = 'pending' AND CAST(:everyone AS bigint) = 1

-- name: questions_for_you
SELECT {whole_question} WHERE {asked_question} ORDER BY q.message_id LIMIT :limit;

-- name: tasks_for_you
SELECT {named_task} WHERE {asked_task} ORDER BY t.message_id LIMIT :limit;

-- name: consent_for_you
SELECT CAST(c.id AS text), r.name, t.name, c.note, c.created_at, c.expires_at
FROM connections c JOIN agents r ON r.agent = c.requester JOIN agents t ON t.agent = c.target
WHERE {asked_consent} ORDER BY c.created_at LIMIT :limit;

-- name: mail_for_you
SELECT {delivery} FROM deliveries d JOIN messages m ON m.id = d.message_id WHERE {letter_waits} ORDER BY d.priority, d.number LIMIT :limit;

-- name: dead_for_you
SELECT {delivery}, a.name FROM deliveries d JOIN messages m ON m.id = d.message_id JOIN agents a ON a.agent = d.mailbox
WHERE {dead_waits} ORDER BY d.settled_at LIMIT :limit;

-- name: silent_for_you
SELECT {delivery}, a.name, r.told_at FROM rings r JOIN deliveries d ON d.message_id = r.message_id AND d.mailbox = r.mailbox
JOIN messages m ON m.id = d.message_id JOIN agents a ON a.agent = d.mailbox WHERE {rung_in_vain} ORDER BY r.told_at LIMIT :limit;

-- name: count_for_you
SELECT (SELECT count(*) FROM questions q WHERE {asked_question}) + (SELECT count(*) FROM tasks t WHERE {asked_task})
  + (SELECT count(*) FROM connections c WHERE {asked_consent}) + (SELECT count(*) FROM deliveries d WHERE {letter_waits})
  + (SELECT count(*) FROM rings r JOIN deliveries d ON d.message_id = r.message_id AND d.mailbox = r.mailbox WHERE {rung_in_vain})
  + CASE WHEN CAST(:everyone AS bigint) = 1 THEN (SELECT count(*) FROM long_talks t WHERE {held_waits})
    + (SELECT count(*) FROM webhooks w WHERE {webhook_trouble}) ELSE 0 END
  + (SELECT count(*) FROM deliveries d WHERE {dead_waits});
