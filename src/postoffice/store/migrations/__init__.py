"""How the tables came to be what they are: one Alembic revision a step, for both engines."""
