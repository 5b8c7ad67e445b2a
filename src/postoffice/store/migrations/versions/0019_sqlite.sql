-- One row for each call that waits for one answer. What has outlived its time counts for nothing.
CREATE TABLE awaits (id TEXT PRIMARY KEY, agent TEXT NOT NULL, other TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
