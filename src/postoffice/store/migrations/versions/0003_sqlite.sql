-- Links that open the page once, and the visits they became; only hashes of what proves them.
CREATE TABLE visits (hash TEXT PRIMARY KEY, agent TEXT NOT NULL, kind TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX visits_agent ON visits (agent);

-- What is not finished, however much is.
CREATE INDEX tasks_open ON tasks (message_id) WHERE state IN ('pending', 'accepted', 'working');
