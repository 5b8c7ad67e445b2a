"""The ways in: each parses, calls one verb of the office, and renders."""
