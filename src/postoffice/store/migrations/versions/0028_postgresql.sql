-- Letters that are sent again and again, and when each comes next.
CREATE TABLE recurring (
  id uuid PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  verified boolean NOT NULL,
  every text COLLATE "C" NOT NULL,
  zone text COLLATE "C" NOT NULL,
  missed text COLLATE "C" NOT NULL,
  letter text COLLATE "C" NOT NULL,
  next_at bigint NOT NULL,
  created_at bigint NOT NULL,
  last_at bigint,
  sent bigint NOT NULL,
  trouble text COLLATE "C"
);
CREATE INDEX recurring_next ON recurring (next_at);
