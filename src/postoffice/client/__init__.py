"""The client: an office elsewhere, spoken to over HTTP."""
