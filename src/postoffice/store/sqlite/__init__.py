"""The embedded engine: one process owns one file."""
