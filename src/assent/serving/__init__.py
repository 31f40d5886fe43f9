"""Thin edges around one core: MCP over HTTP and stdio, REST, pages and documents, all from the same tool table."""
