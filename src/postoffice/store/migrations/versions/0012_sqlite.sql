-- The one process that owns a file holds every duty without asking: no older program reads this table.
ALTER TABLE roles RENAME TO duties;
ALTER TABLE duties RENAME COLUMN role TO duty;
