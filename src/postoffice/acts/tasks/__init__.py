"""Acts about tasks."""
