"""Bridges: loops that carry mail between an office and another world."""
