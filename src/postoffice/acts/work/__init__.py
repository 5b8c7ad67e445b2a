"""What agents say of their work: which files they have reserved."""
