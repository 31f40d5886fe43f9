"""Assent lets AI agents do real work in the world, with a human's consent that the server enforces."""

__version__ = "0.1.0"
