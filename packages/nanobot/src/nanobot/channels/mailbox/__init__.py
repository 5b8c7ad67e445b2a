"""The mailbox channel, where nanobot from 0.3 on looks for channels."""
