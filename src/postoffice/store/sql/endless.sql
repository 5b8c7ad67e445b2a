-- Talk without end, the same on both engines.

-- part: long_talk
CAST(t.session_id AS text), t.low, t.high, t.letters

-- part: asked_about
EXISTS (SELECT 1 FROM long_talks o JOIN questions q ON q.message_id = o.question_id
  WHERE q.state = 'open' AND (o.low IN (t.low, t.high) OR o.high IN (t.low, t.high)))

-- part: held_waits
-- While the owner is asked about it, or about another talk of its two as in a ring, the question waits, and not the session besides.
t.held_at IS NOT NULL AND NOT {asked_about}

-- name: unasked_long_talks
-- Where one of the two is in another such talk that the owner is asked about, that answer will do.
SELECT {long_talk} FROM long_talks t WHERE t.question_id IS NULL AND NOT {asked_about}
ORDER BY t.at LIMIT 1;

-- name: talk_of_question
SELECT {long_talk} FROM long_talks t WHERE t.question_id = :id;

-- name: held_long_talks
SELECT {long_talk}, t.held_at, coalesce(l.name, t.low), coalesce(h.name, t.high) FROM long_talks t
LEFT JOIN agents l ON l.agent = t.low LEFT JOIN agents h ON h.agent = t.high
WHERE {held_waits} ORDER BY t.held_at LIMIT :limit;

-- name: long_talk
SELECT {long_talk} FROM long_talks t WHERE t.session_id = :id;

-- name: asked_beside
-- The open question that is about this talk, or about another one of its two.
SELECT CAST(q.message_id AS text) FROM long_talks t JOIN questions q ON q.message_id = t.question_id
WHERE q.state = 'open' AND (t.low IN (:low, :high) OR t.high IN (:low, :high)) LIMIT 1;
