-- Reservations, on PostgreSQL.

-- name: put_reservation
INSERT INTO reservations (id, agent, project, paths, exclusive, why, held_in, made_at, until)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::uuid[], $8::bigint[], $9::bigint[])
ON CONFLICT (id) DO UPDATE SET paths = excluded.paths, exclusive = excluded.exclusive, why = excluded.why, held_in = excluded.held_in,
  until = excluded.until;

-- name: drop_reservation
DELETE FROM reservations WHERE id = ANY ($1::uuid[]);

-- name: put_bid
INSERT INTO reservation_bids (id, agent, project, paths, exclusive, asked_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::bigint[]);

-- name: drop_bid
DELETE FROM reservation_bids WHERE id = ANY ($1::uuid[]);
