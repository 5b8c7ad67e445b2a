-- What bridges hold: looked through when one starts.
CREATE INDEX deliveries_lent ON deliveries (mailbox, number) WHERE state = 'leased' AND due_at IS NULL;
