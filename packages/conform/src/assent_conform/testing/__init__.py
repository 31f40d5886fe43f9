"""Test kits for authors of connectors and operators: an emulated provider with its own ledger, a
connector to it, contract checks, and an operator that stages any effect.

Nothing here is part of a running server.
"""
