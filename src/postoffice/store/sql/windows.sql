-- Windows, the same on both engines.

-- part: window
CAST(w.id AS text), w.agent, w.client, w.session, w.process, w.started, w.folder, w.machine, w.ring, w.state, w.state_at, w.shared,
w.opened_at, w.seen_at, w.until

-- part: in_hand_of_window
-- What is lent lies elsewhere, and what was taken without a window is not the window's to lose.
SELECT CAST(d.message_id AS text), d.mailbox
FROM (SELECT id, agent, machine, process, started, until, agent AS mailbox FROM windows
      UNION ALL SELECT o.id, o.agent, o.machine, o.process, o.started, o.until, r.agent FROM windows o CROSS JOIN mail_roles r) AS w
JOIN deliveries d ON d.mailbox = w.mailbox AND d.state = 'leased' AND d.due_at IS NOT NULL AND d.holder = CAST(w.id AS text)

-- name: open_windows
SELECT {window}, a.name FROM windows w JOIN agents a ON a.agent = w.agent WHERE w.until > office_now() ORDER BY w.agent, w.opened_at;

-- name: window
SELECT {window}, a.name FROM windows w JOIN agents a ON a.agent = w.agent WHERE w.id = :id;

-- name: rings_of
-- Of what waits for an agent, without a sender anybody's: how much, when it was rung for last, and when last without a turn since.
SELECT count(*), max(r.last_at), max(CASE WHEN r.turn_at IS NULL THEN r.last_at END), (SELECT office_now())
FROM deliveries d LEFT JOIN rings r ON r.message_id = d.message_id AND r.mailbox = d.mailbox
WHERE d.mailbox = :agent AND d.state = 'pending' AND (CAST(:sender AS text) IS NULL OR d.sender = :sender);

-- name: lost_windows
SELECT CAST(id AS text) FROM windows WHERE until <= (SELECT office_now()) ORDER BY until LIMIT :limit;

-- name: machine_of_key
SELECT prefix FROM machine_keys WHERE hash = :hash AND revoked_at IS NULL;

-- name: machine_of_agent
SELECT a.name, w.prefix FROM window_names w JOIN agents a ON a.agent = w.agent WHERE w.agent = :agent;

-- name: machines
SELECT prefix, shown, created_at FROM machine_keys WHERE revoked_at IS NULL ORDER BY prefix, created_at;

-- name: machine_hashes
SELECT hash FROM machine_keys WHERE prefix = :prefix AND revoked_at IS NULL;
