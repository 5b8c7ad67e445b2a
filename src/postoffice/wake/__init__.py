"""Hints that mail arrived. The database is the truth; a hint only says: look."""
