-- Which files agents have reserved, until when, and in which window.
CREATE TABLE reservations (
  id uuid PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  paths text COLLATE "C" NOT NULL,
  exclusive boolean NOT NULL,
  why text COLLATE "C" NOT NULL,
  held_in uuid,
  made_at bigint NOT NULL,
  until bigint NOT NULL
);

-- Who is to be told once files are free.
CREATE TABLE reservation_bids (
  id uuid PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  paths text COLLATE "C" NOT NULL,
  exclusive boolean NOT NULL,
  asked_at bigint NOT NULL
);
