"""The authorization server for MCP clients, beside the tools that it protects (docs/decisions/0028).

`grammar` says what a client may ask for, and is pure. `clients` finds out who asks, `consent` is the page on which a
person answers, `endpoints` has what programs call, `assertions` reads the signatures of clients that make some,
`resource` is what a refused call says about all this. What is stored is in `assent.engine.people.client_grants`.
"""
