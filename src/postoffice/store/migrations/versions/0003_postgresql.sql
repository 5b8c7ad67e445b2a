-- Links that open the page once, and the visits they became; only hashes of what proves them.
CREATE TABLE visits (hash text PRIMARY KEY, agent text COLLATE "C" NOT NULL, kind text NOT NULL, expires_at bigint NOT NULL);
CREATE INDEX visits_agent ON visits (agent);

-- What is not finished, however much is.
CREATE INDEX tasks_open ON tasks (message_id) WHERE state IN ('pending', 'accepted', 'working');
