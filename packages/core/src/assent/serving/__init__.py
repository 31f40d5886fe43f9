"""Transports and pages around one core: MCP over HTTP and stdio, REST, HTML and discovery
documents, from one tool table."""
