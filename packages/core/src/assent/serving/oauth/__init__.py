"""The authorization server for MCP clients, beside the tools that it protects (docs/decisions/0028).

`grammar` says what a client may ask for, and is pure. `clients` finds out who asks, `endpoints` is the server with its
page, `resource` is what a refused call says about it. `assent.engine.people.client_grants` is what is stored.
"""
