"""Providers as tests run them, one module each. Each keeps a ledger of what it really did."""
