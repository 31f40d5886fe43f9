"""`assent mcp`: the entries of this server in the files of MCP clients."""
