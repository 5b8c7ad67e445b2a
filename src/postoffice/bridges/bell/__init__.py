"""The bell: one process for a person and machine that tells open windows of their mail."""
