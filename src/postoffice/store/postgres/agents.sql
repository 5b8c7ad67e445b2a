-- Agents, their mailboxes and their keys, on PostgreSQL.

-- name: everyone
SELECT agent FROM agents WHERE NOT forgotten AND {no_role};

-- part: versions
-- Whichever transaction wrote a row last: while it is the same, so is the row.
b.xmin::text::bigint, a.xmin::text::bigint

-- part: boxes
SELECT {agent}, {versions}, office_now() FROM mailboxes b JOIN agents a ON a.agent = b.agent
WHERE b.agent = ANY ($1::text[]) ORDER BY b.agent

-- name: boxes
{boxes} FOR UPDATE OF b;

-- name: boxes_and_agents
-- Of two rows read together only the one that is locked is as new as its lock, where that was waited for.
{boxes} FOR UPDATE OF b FOR NO KEY UPDATE OF a;

-- name: doubt_boxes
-- Whether what is remembered of these is not true any more, or the time is another than the group goes by.
SELECT CASE WHEN count(*) FILTER (WHERE same) < $2::bigint THEN 'changed'
            WHEN abs($3::bigint - office_now()) > $4::bigint THEN 'late' END AS doubt
FROM (SELECT k.version = concat_ws(' ', {versions}) AS same
      FROM jsonb_each_text($1::jsonb) AS k (agent, version)
      JOIN mailboxes b ON b.agent = k.agent JOIN agents a ON a.agent = b.agent ORDER BY b.agent FOR UPDATE OF b) AS boxes;

-- name: keys_of
SELECT hash, agent, prefix, created_at, expires_at, revoked_at FROM keys
WHERE agent = ANY ($1::text[]) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > office_now());

-- name: add_agent
INSERT INTO agents (agent, name, id, card, has_key, acted, created_at, last_seen)
SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::boolean[], $6::boolean[], $7::bigint[], $8::bigint[]);

-- name: add_mailbox
INSERT INTO mailboxes (agent, counted, held, pending, leased, dead, waiting_bytes)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]);

-- name: update_agent
UPDATE agents a SET card = v.card, has_key = v.has_key, acted = v.acted, last_seen = v.last_seen, forgotten = v.forgotten
FROM unnest($1::text[], $2::text[], $3::boolean[], $4::boolean[], $5::bigint[], $6::boolean[])
  AS v (agent, card, has_key, acted, last_seen, forgotten)
WHERE a.agent = v.agent;

-- name: update_mailbox
UPDATE mailboxes b SET counted = v.counted, held = v.held, pending = v.pending, leased = v.leased, dead = v.dead,
                       waiting_bytes = v.waiting_bytes
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
  AS v (agent, counted, held, pending, leased, dead, waiting_bytes)
WHERE b.agent = v.agent;

-- name: put_pause
UPDATE mailboxes b SET paused_at = v.paused_at, paused_until = v.paused_until, paused_by = v.paused_by, pause_reason = v.pause_reason
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) AS v (agent, paused_at, paused_until, paused_by, pause_reason)
WHERE b.agent = v.agent;

-- name: put_key
INSERT INTO keys (hash, agent, prefix, created_at, expires_at, revoked_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at, revoked_at = excluded.revoked_at;

-- name: lookalikes
SELECT name FROM agents WHERE {look} = ANY ($1::text[]) AND NOT forgotten ORDER BY agent LIMIT 1;
