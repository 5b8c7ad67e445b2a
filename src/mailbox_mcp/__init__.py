"""`python -m mailbox_mcp`: the mailbox as MCP tools over standard input and output."""
