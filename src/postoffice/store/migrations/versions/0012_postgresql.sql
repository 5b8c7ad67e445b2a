-- Work that only one process does at a time is a duty.
ALTER TABLE roles RENAME TO duties;
ALTER TABLE duties RENAME COLUMN role TO duty;

-- Programs before this schema may still run beside it. They read and write duties by the old name, through a view that PostgreSQL updates itself.
CREATE VIEW roles AS SELECT duty AS role, holder, until FROM duties;
