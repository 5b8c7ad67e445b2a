-- Windows, on SQLite.

-- name: windows_by_id
SELECT {window} FROM windows w WHERE w.id = ?1;

-- name: windows_by_place
SELECT {window} FROM windows w WHERE w.machine = ?1 AND w.process = ?2 AND w.started = ?3;

-- name: windows_of
SELECT {window} FROM windows w WHERE w.agent = ?1;

-- name: holders
SELECT id, agent FROM windows WHERE id = ?1 AND until > office_now();

-- name: leases_of_windows
{in_hand_of_window} WHERE w.id = ?1;

-- name: leases_of_places
{in_hand_of_window} WHERE w.machine = ?1 AND w.process = ?2 AND w.started = ?3;

-- name: leases_of_lost
{in_hand_of_window} WHERE w.agent = ?1 AND w.until <= office_now();

-- name: window_names
SELECT agent, chosen, prefix FROM window_names WHERE agent = ?1;

-- name: window_sessions
SELECT client, session, agent FROM window_sessions WHERE client = ?1 AND session = ?2;

-- name: put_window
INSERT INTO windows (id, agent, client, session, process, started, folder, machine, ring, state, state_at, shared, opened_at, seen_at, until)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, client = excluded.client, session = excluded.session, folder = excluded.folder,
  ring = excluded.ring, state = excluded.state, state_at = excluded.state_at, shared = excluded.shared, seen_at = excluded.seen_at, until = excluded.until;

-- name: delete_window
DELETE FROM windows WHERE id = ?1;

-- name: put_window_name
INSERT INTO window_names (agent, chosen, prefix) VALUES (?1, ?2, ?3)
ON CONFLICT (agent) DO UPDATE SET chosen = excluded.chosen, prefix = excluded.prefix;

-- name: put_window_session
INSERT INTO window_sessions (client, session, agent, at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (client, session) DO UPDATE SET agent = excluded.agent, at = excluded.at;

-- name: forget_window_sessions
DELETE FROM window_sessions WHERE at < ?1;

-- name: rings
SELECT message_id, mailbox, times, first_at, last_at, turn_at, told_at FROM rings WHERE message_id = ?1 AND mailbox = ?2;

-- name: put_ring
INSERT INTO rings (message_id, mailbox, times, first_at, last_at, turn_at, told_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (message_id, mailbox) DO UPDATE SET times = excluded.times, last_at = excluded.last_at, turn_at = excluded.turn_at, told_at = excluded.told_at;

-- name: begin_turn
UPDATE rings SET turn_at = ?2 WHERE mailbox = ?1 AND turn_at IS NULL;

-- name: delete_rings
DELETE FROM rings WHERE message_id = ?1;

-- name: add_machine_key
INSERT INTO machine_keys (hash, prefix, shown, created_at) VALUES (?1, ?2, ?3, ?4);

-- name: revoke_machine_key
UPDATE machine_keys SET revoked_at = ?2 WHERE hash = ?1;
