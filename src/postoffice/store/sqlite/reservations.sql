-- Reservations, on SQLite.

-- name: put_reservation
INSERT INTO reservations (id, agent, project, paths, exclusive, why, held_in, made_at, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (id) DO UPDATE SET paths = excluded.paths, exclusive = excluded.exclusive, why = excluded.why, held_in = excluded.held_in,
  until = excluded.until;

-- name: drop_reservation
DELETE FROM reservations WHERE id = ?1;

-- name: put_bid
INSERT INTO reservation_bids (id, agent, project, paths, exclusive, asked_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: drop_bid
DELETE FROM reservation_bids WHERE id = ?1;
