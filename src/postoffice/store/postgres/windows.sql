-- Windows, on PostgreSQL.

-- name: windows_by_id
SELECT {window} FROM windows w WHERE w.id = ANY ($1::uuid[]);

-- name: windows_by_place
SELECT {window} FROM windows w JOIN unnest($1::text[], $2::bigint[], $3::text[]) AS k (machine, process, started)
  ON w.machine = k.machine AND w.process = k.process AND w.started = k.started;

-- name: windows_of
SELECT {window} FROM windows w WHERE w.agent = ANY ($1::text[]);

-- name: holders
SELECT CAST(id AS text), agent FROM windows WHERE id = ANY ($1::uuid[]) AND until > office_now();

-- name: leases_of_windows
{in_hand_of_window} WHERE w.id = ANY ($1::uuid[]);

-- name: leases_of_places
{in_hand_of_window} JOIN unnest($1::text[], $2::bigint[], $3::text[]) AS k (machine, process, started)
  ON w.machine = k.machine AND w.process = k.process AND w.started = k.started;

-- name: leases_of_lost
{in_hand_of_window} WHERE w.agent = ANY ($1::text[]) AND w.until <= office_now();

-- name: window_names
SELECT agent, chosen, prefix FROM window_names WHERE agent = ANY ($1::text[]);

-- name: window_sessions
SELECT s.client, s.session, s.agent FROM window_sessions s JOIN unnest($1::text[], $2::text[]) AS k (client, session)
  ON s.client = k.client AND s.session = k.session;

-- name: put_window
INSERT INTO windows (id, agent, client, session, process, started, folder, machine, ring, state, state_at, shared, opened_at, seen_at, until)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
                     $11::bigint[], $12::boolean[], $13::bigint[], $14::bigint[], $15::bigint[])
ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, client = excluded.client, session = excluded.session, folder = excluded.folder,
  ring = excluded.ring, state = excluded.state, state_at = excluded.state_at, shared = excluded.shared, seen_at = excluded.seen_at, until = excluded.until;

-- name: delete_window
DELETE FROM windows WHERE id = ANY ($1::uuid[]);

-- name: put_window_name
INSERT INTO window_names (agent, chosen, prefix) SELECT * FROM unnest($1::text[], $2::boolean[], $3::text[])
ON CONFLICT (agent) DO UPDATE SET chosen = excluded.chosen, prefix = excluded.prefix;

-- name: put_window_session
INSERT INTO window_sessions (client, session, agent, at) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
ON CONFLICT (client, session) DO UPDATE SET agent = excluded.agent, at = excluded.at;

-- name: forget_window_sessions
DELETE FROM window_sessions WHERE at < ANY ($1::bigint[]);

-- name: rings
SELECT CAST(r.message_id AS text), r.mailbox, r.times, r.first_at, r.last_at, r.turn_at, r.told_at
FROM rings r JOIN unnest($1::uuid[], $2::text[]) AS k (message_id, mailbox) ON r.message_id = k.message_id AND r.mailbox = k.mailbox;

-- name: put_ring
INSERT INTO rings (message_id, mailbox, times, first_at, last_at, turn_at, told_at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
ON CONFLICT (message_id, mailbox) DO UPDATE SET times = excluded.times, last_at = excluded.last_at, turn_at = excluded.turn_at, told_at = excluded.told_at;

-- name: begin_turn
UPDATE rings r SET turn_at = k.at FROM unnest($1::text[], $2::bigint[]) AS k (mailbox, at) WHERE r.mailbox = k.mailbox AND r.turn_at IS NULL;

-- name: delete_rings
DELETE FROM rings WHERE message_id = ANY ($1::uuid[]);

-- name: add_machine_key
INSERT INTO machine_keys (hash, prefix, shown, created_at) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]);

-- name: revoke_machine_key
UPDATE machine_keys m SET revoked_at = k.at FROM unnest($1::text[], $2::bigint[]) AS k (hash, at) WHERE m.hash = k.hash;
