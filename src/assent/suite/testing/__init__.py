"""Shared by tests of the suite: all its tools, a type for any effect, its OAuth providers as one process."""
