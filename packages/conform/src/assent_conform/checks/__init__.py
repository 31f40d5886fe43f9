"""Conformance checks of the contract, run from outside against any server: `assent conform`.

They know the wire format and the contract, and nothing of this server's code.
"""
