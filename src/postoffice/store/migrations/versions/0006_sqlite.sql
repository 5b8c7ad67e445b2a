-- SQLite has no view to serve: nothing is there to be changed.
SELECT 1;
