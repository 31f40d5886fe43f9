"""Assent lets AI agents act with a human's consent that the server enforces."""

__version__ = "0.1.0"
