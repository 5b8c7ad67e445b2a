-- What one account pays for on one topic is a line, in which nothing goes before what was put there earlier: the first of each line is found
-- without reading the others. A topic that is yet to be made has a line of its own.
CREATE INDEX IF NOT EXISTS ledger_outbox_lines
  ON ledger_outbox ((CASE topic_id WHEN '' THEN id ELSE topic_id END || ' ' || coalesce(payer, '')), created_at, id) WHERE state = 'waiting';
