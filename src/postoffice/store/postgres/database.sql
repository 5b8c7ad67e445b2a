-- The database itself, on PostgreSQL.

-- name: has_schema
SELECT to_regclass('alembic_version') IS NOT NULL;

-- name: schema_version
SELECT version_num FROM alembic_version;

-- name: committing_session
-- Accepted means durable, whatever the database's default; a stricter one stays. And no transaction lasts for ever: a process that stands
-- still between two words of a statement is not idle to PostgreSQL, which can end it all the same since version 17.
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
UNION ALL
SELECT set_config('transaction_timeout', '{longest}', false) WHERE current_setting('server_version_num')::int >= 170000;

-- name: committing_transaction
SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'
UNION ALL
SELECT set_config('transaction_timeout', '{longest}', true) WHERE current_setting('server_version_num')::int >= 170000;

-- name: now
SELECT office_now();

-- name: bytes_kept
-- What tables and their indexes take on the disk.
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r';

-- name: adopt_log
-- A log that comes from another server, by a backup, is numbered by that server's transactions: where they are to come here yet, what
-- happens next would stand before what has happened. All of it becomes older than anything of this server's, and is indexed again.
-- A webhook goes on before the first event that it was not told.
WITH strange AS (SELECT 1 FROM events WHERE tx >= pg_snapshot_xmax(pg_current_snapshot()) LIMIT 1),
     moved AS (UPDATE webhooks w SET place = '0.' || coalesce(
       (SELECT min(e.n) - 1 FROM events e WHERE (e.tx, e.n) > (split_part(w.place, '.', 1)::xid8, split_part(w.place, '.', 2)::bigint)),
       (SELECT max(n) FROM events), 0) WHERE EXISTS (SELECT 1 FROM strange)),
     again AS (UPDATE cursors SET value = '0.0' WHERE name = 'search' AND EXISTS (SELECT 1 FROM strange))
UPDATE events SET tx = '0' WHERE EXISTS (SELECT 1 FROM strange);
