-- Questions to people, the same on both engines.

-- part: question
CAST(q.message_id AS text), q.asker, q.person, CAST(q.session_id AS text), q.state, q.deadline, q.created_at, q.answered_by, q.choice, q.said,
CAST(q.answer_id AS text), q.via, q.closed_at

-- part: whole_question
{question}, m.body, a.name, p.name
FROM questions q JOIN messages m ON m.id = q.message_id JOIN agents a ON a.agent = q.asker JOIN agents p ON p.agent = q.person

-- part: put
-- To a person it is no question before its letter has come.
(SELECT {let_through} FROM deliveries d WHERE d.message_id = q.message_id AND d.mailbox = q.person) IS NOT FALSE

-- part: question_in_state
(CAST(:state AS text) IS NULL OR q.state = :state) AND q.message_id < :before ORDER BY q.message_id DESC LIMIT :limit

-- name: question
SELECT {whole_question} WHERE q.message_id = :id;

-- name: questions
SELECT {whole_question} WHERE {question_in_state};

-- name: open_questions
SELECT {whole_question} WHERE q.state = 'open' AND q.person = :agent AND {put} AND (CAST(:state AS text) IS NULL OR q.state = :state) AND q.message_id < :before
ORDER BY q.message_id DESC LIMIT :limit;

-- name: questions_to
SELECT {whole_question} WHERE q.person = :agent AND {put} AND {question_in_state};

-- name: questions_by
SELECT {whole_question} WHERE q.asker = :agent AND {question_in_state};

-- name: overdue_questions
SELECT {whole_question} WHERE q.state = 'open' AND q.deadline IS NOT NULL AND q.deadline <= (SELECT office_now()) ORDER BY q.deadline LIMIT :limit;
