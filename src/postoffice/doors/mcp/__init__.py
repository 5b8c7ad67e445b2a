"""The MCP doors: an address for each agent, one for all, and a plain POST for a shell."""
