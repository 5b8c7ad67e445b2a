-- Reservations, the same on both engines.

-- part: still_reserved
-- Until its end, and for as long as the window lives that it was made in.
r.until > (SELECT office_now())
  AND (r.held_in IS NULL OR EXISTS (SELECT 1 FROM windows w WHERE w.id = r.held_in AND w.until > (SELECT office_now())))

-- name: reservations
-- Also those that have ended and are not swept yet, each told from those that hold.
SELECT CAST(r.id AS text), r.agent, a.name, r.project, r.paths, r.exclusive, r.why, CAST(r.held_in AS text), r.made_at, r.until, {still_reserved}
FROM reservations r JOIN agents a ON a.agent = r.agent ORDER BY r.project, r.id;

-- name: ended_reservations
SELECT CAST(r.id AS text), r.agent FROM reservations r WHERE NOT ({still_reserved}) ORDER BY r.id LIMIT :limit;

-- name: reservation_bids
SELECT CAST(id AS text), agent, project, paths, exclusive, asked_at FROM reservation_bids ORDER BY id;
