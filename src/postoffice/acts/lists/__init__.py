"""Lists: who is on them, and letters to them."""
