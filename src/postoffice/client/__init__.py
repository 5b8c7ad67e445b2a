"""The client: calls an office over HTTP."""
