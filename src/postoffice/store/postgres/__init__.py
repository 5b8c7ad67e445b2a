"""The engine for many machines: any number of equal processes share one PostgreSQL."""
