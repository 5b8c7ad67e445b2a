-- Many letters at once, the same on both engines.

-- part: bulk_fits
(CAST(:agent AS text) IS NULL OR d.mailbox = :agent) AND (CAST(:sender AS text) IS NULL OR d.sender = :sender)
  AND (CAST(:type AS text) IS NULL OR d.type = :type)
  AND (CAST(:reason AS text) IS NULL OR replace(lower(coalesce(d.reason, '')), lower(:reason), '') <> lower(coalesce(d.reason, '')))
  AND coalesce(d.settled_at, d.created_at) <= :before

-- part: bulk_dead
-- What its sender has taken back stays so. Of what never came to its recipient nobody else knows.
d.state = 'dead' AND d.deliver_at IS NULL AND (CAST(:canceled AS bigint) = 1 OR coalesce(d.reason, '') <> 'canceled') AND {bulk_fits}

-- part: bulk_waiting
-- What the ledger holds waits for nobody here.
d.state IN ('pending', 'held') AND (d.state = 'pending' OR d.due_at IS NOT NULL OR d.deliver_at IS NOT NULL) AND d.sender <> 'system'
  AND CAST(:canceled AS bigint) = 0 AND {bulk_fits}

-- part: bulk_next
(d.message_id, d.mailbox) > (:after, :after_mailbox) ORDER BY d.message_id, d.mailbox LIMIT :limit

-- name: count_bulk_dead
SELECT count(*) FROM deliveries d WHERE {bulk_dead};

-- name: count_bulk_waiting
SELECT count(*) FROM deliveries d WHERE {bulk_waiting};

-- name: bulk_dead
SELECT CAST(d.message_id AS text), d.mailbox FROM deliveries d WHERE {bulk_dead} AND {bulk_next};

-- name: bulk_waiting
SELECT CAST(d.message_id AS text), d.mailbox FROM deliveries d WHERE {bulk_waiting} AND {bulk_next};
