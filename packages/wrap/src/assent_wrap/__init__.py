"""Foreign tools behind the gate: tools of any MCP server, and tools that an agent runs itself."""
