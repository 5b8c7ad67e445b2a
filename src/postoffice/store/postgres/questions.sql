-- Questions to people, on PostgreSQL.

-- name: questions_by_id
SELECT {question} FROM questions q WHERE q.message_id = ANY ($1::uuid[]);

-- name: put_question
INSERT INTO questions (message_id, asker, person, session_id, state, deadline, created_at, answered_by, choice, said, answer_id, via, closed_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[],
                     $11::uuid[], $12::text[], $13::bigint[])
ON CONFLICT (message_id) DO UPDATE SET state = excluded.state, answered_by = excluded.answered_by, choice = excluded.choice, said = excluded.said,
  answer_id = excluded.answer_id, via = excluded.via, closed_at = excluded.closed_at;

-- name: delete_question
DELETE FROM questions WHERE message_id = ANY ($1::uuid[]);
