"""Operators and effects that other packages add: the public API, loading, the registry."""
