-- What letters carry, in their order.
CREATE TABLE attachments (
  message_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  digest TEXT NOT NULL,
  sender TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  PRIMARY KEY (message_id, place)
) WITHOUT ROWID;
CREATE INDEX attachments_of ON attachments (digest, sender);

-- Bytes kept whole, each under its digest, and the upload that brought them.
CREATE TABLE attachment_blobs (
  digest TEXT PRIMARY KEY,
  upload TEXT NOT NULL,
  size INTEGER NOT NULL,
  stored_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Who has brought which bytes here, or sent them.
CREATE TABLE attachment_holdings (
  digest TEXT NOT NULL,
  agent TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  held_at INTEGER NOT NULL,
  PRIMARY KEY (digest, agent)
) WITHOUT ROWID;
CREATE INDEX attachment_holdings_of ON attachment_holdings (agent);
CREATE INDEX attachment_holdings_age ON attachment_holdings (held_at);

-- Uploads under way. One of unknown size is as large as what has come of it.
CREATE TABLE attachment_uploads (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  size INTEGER,
  digest TEXT,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  received INTEGER NOT NULL,
  touched_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX attachment_uploads_of ON attachment_uploads (agent);
CREATE INDEX attachment_uploads_age ON attachment_uploads (touched_at);

-- The parts in which an upload's bytes are kept.
CREATE TABLE attachment_parts (
  upload TEXT NOT NULL,
  begin_at INTEGER NOT NULL,
  size INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (upload, begin_at)
) WITHOUT ROWID;

-- Uploads whose bytes nobody needs any more.
CREATE TABLE attachment_rubbish (
  upload TEXT PRIMARY KEY
) WITHOUT ROWID;
