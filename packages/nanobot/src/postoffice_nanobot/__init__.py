"""A mailbox for nanobot: agents delegate work to each other, and results come back to the chat that asked."""

__version__ = "0.1.0"
