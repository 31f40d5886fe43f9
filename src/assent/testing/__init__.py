"""Kits for authors of connectors and operators: an emulated provider with a ledger of its own, a connector that talks
to it, contract checks, and an operator that stages whatever a test wants.

Nothing here is part of a running server.
"""
