"""What changes webhooks, and the events on their way to them."""
