"""What a release would publish."""
