-- Each is an agent that only writes. Of its token the hash is kept, none once it is revoked; a secret signs, and so has to be kept itself.
CREATE TABLE hooks (
  name text COLLATE "C" PRIMARY KEY,
  hash text COLLATE "C" UNIQUE,
  recipient text COLLATE "C" NOT NULL,
  proof text COLLATE "C" NOT NULL,
  secret text COLLATE "C",
  created_at bigint NOT NULL
);
