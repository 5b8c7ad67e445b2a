-- Whether two are connected is asked with every letter between them: however many either of them has been connected with.
CREATE INDEX IF NOT EXISTS connections_active ON connections (requester, target) WHERE status = 'ACTIVE';
-- What an agent is asked is told with every look into its inbox.
CREATE INDEX IF NOT EXISTS connections_asked ON connections (target, id) WHERE status = 'PENDING';
-- Nearly all that was ever put on the ledger is confirmed.
CREATE INDEX IF NOT EXISTS ledger_outbox_unconfirmed ON ledger_outbox (state) WHERE state <> 'confirmed';
