"""Setting up: other programs' configurations, changed so that they find the office, and changed back."""
