-- What letters carry, in their order.
CREATE TABLE attachments (
  message_id uuid NOT NULL,
  place integer NOT NULL,
  digest text COLLATE "C" NOT NULL,
  sender text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  PRIMARY KEY (message_id, place)
);
CREATE INDEX attachments_of ON attachments (digest, sender);

-- Bytes kept whole, each under its digest, and the upload that brought them.
CREATE TABLE attachment_blobs (
  digest text COLLATE "C" PRIMARY KEY,
  upload uuid NOT NULL,
  size bigint NOT NULL,
  stored_at bigint NOT NULL
);

-- Who has brought which bytes here, or sent them.
CREATE TABLE attachment_holdings (
  digest text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  held_at bigint NOT NULL,
  PRIMARY KEY (digest, agent)
);
CREATE INDEX attachment_holdings_of ON attachment_holdings (agent);
CREATE INDEX attachment_holdings_age ON attachment_holdings (held_at);

-- Uploads under way. One of unknown size is as large as what has come of it.
CREATE TABLE attachment_uploads (
  id uuid PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  size bigint,
  digest text COLLATE "C",
  name text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  received bigint NOT NULL,
  touched_at bigint NOT NULL
);
CREATE INDEX attachment_uploads_of ON attachment_uploads (agent);
CREATE INDEX attachment_uploads_age ON attachment_uploads (touched_at);

-- The parts in which an upload's bytes are kept.
CREATE TABLE attachment_parts (
  upload uuid NOT NULL,
  begin_at bigint NOT NULL,
  size integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (upload, begin_at)
);

-- Uploads whose bytes nobody needs any more.
CREATE TABLE attachment_rubbish (
  upload uuid PRIMARY KEY
);

-- The bytes themselves, where no object store keeps them.
CREATE TABLE attachment_bytes (
  upload uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (upload, name)
);
ALTER TABLE attachment_bytes ALTER COLUMN bytes SET STORAGE EXTERNAL;
