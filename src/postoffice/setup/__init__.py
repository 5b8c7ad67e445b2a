"""Setting up: changes other programs' configurations so that they find the office, and undoes that."""
