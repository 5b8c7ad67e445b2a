-- Questions to people, on SQLite.

-- name: questions_by_id
SELECT {question} FROM questions q WHERE q.message_id = ?1;

-- name: put_question
INSERT INTO questions (message_id, asker, person, session_id, state, deadline, created_at, answered_by, choice, said, answer_id, via, closed_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
ON CONFLICT (message_id) DO UPDATE SET state = excluded.state, answered_by = excluded.answered_by, choice = excluded.choice, said = excluded.said,
  answer_id = excluded.answer_id, via = excluded.via, closed_at = excluded.closed_at;

-- name: delete_question
DELETE FROM questions WHERE message_id = ?1;
