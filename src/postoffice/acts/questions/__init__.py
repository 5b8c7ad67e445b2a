"""Acts about questions to people."""
