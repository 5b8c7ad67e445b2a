"""The page: where people watch, read and decide."""
