"""The office's own housekeeping: duties, the search index, and what is forgotten."""
