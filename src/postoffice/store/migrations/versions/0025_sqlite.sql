-- Which files agents have reserved, until when, and in which window.
CREATE TABLE reservations (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  project TEXT NOT NULL,
  paths TEXT NOT NULL,
  exclusive INTEGER NOT NULL,
  why TEXT NOT NULL,
  held_in TEXT,
  made_at INTEGER NOT NULL,
  until INTEGER NOT NULL
) WITHOUT ROWID;

-- Who is to be told once files are free.
CREATE TABLE reservation_bids (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  project TEXT NOT NULL,
  paths TEXT NOT NULL,
  exclusive INTEGER NOT NULL,
  asked_at INTEGER NOT NULL
) WITHOUT ROWID;
