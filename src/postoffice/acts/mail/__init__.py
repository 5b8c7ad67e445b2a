"""Acts on mail: send it, take and settle it, read a session, deal with what is dead, held or due."""
