-- Recurring letters, on PostgreSQL.

-- name: recurring_by_id
SELECT {recurring} FROM recurring r WHERE CAST(r.id AS text) = ANY ($1::text[]);

-- name: count_recurring
SELECT count(*) FROM recurring WHERE agent = ANY ($1::text[]);

-- name: put_recurring
INSERT INTO recurring (id, agent, verified, every, zone, missed, letter, next_at, created_at, last_at, sent, trouble)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[],
                     $10::bigint[], $11::bigint[], $12::text[])
ON CONFLICT (id) DO UPDATE SET next_at = excluded.next_at, last_at = excluded.last_at, sent = excluded.sent, trouble = excluded.trouble;

-- name: drop_recurring
DELETE FROM recurring WHERE CAST(id AS text) = ANY ($1::text[]);
