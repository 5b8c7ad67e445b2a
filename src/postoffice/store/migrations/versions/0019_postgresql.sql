-- One row for each call that waits for one answer. What has outlived its time counts for nothing.
CREATE TABLE awaits (id text COLLATE "C" PRIMARY KEY, agent text COLLATE "C" NOT NULL, other text COLLATE "C" NOT NULL, until bigint NOT NULL);
