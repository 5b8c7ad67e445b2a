-- Upkeep: duties, limits, cursors, and what is forgotten, the same on both engines.

-- part: done_with
m.created_at < office_now() - :age AND NOT {is_note}
    AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.message_id = m.id
                    AND (w.state IN ('held', 'pending', 'leased') OR w.settled_at > office_now() - :age))
    AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.message_id = m.id
                    AND (t.state IN ('pending', 'accepted', 'working') OR t.updated_at > office_now() - :age))
    AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.message_id = m.id AND q.state = 'open')
ORDER BY m.id LIMIT :limit

-- name: purgeable
-- Messages in the order they were made; whether every recipient is done with one is decided under locks.
-- Ids begin with their time: those of young messages are not looked through. An id that is ahead of the time was made elsewhere and tells no age.
-- What was said to everyone may have reached nobody: it has no mailbox.
SELECT CAST(p.id AS text), d.mailbox FROM (
  SELECT id FROM (SELECT m.id FROM messages m WHERE m.id < :young AND {done_with}) AS old
  UNION SELECT id FROM (SELECT m.id FROM messages m WHERE m.id > :ahead AND {done_with}) AS others
  ORDER BY id LIMIT :limit) AS p LEFT JOIN deliveries d ON d.message_id = p.id;

-- name: old_dedupe
SELECT sender, addressee, client_id, at FROM dedupe WHERE at < (SELECT office_now()) - :age ORDER BY at LIMIT :limit;
