"""What extensions may use of the server beyond the public API (`assent.__all__`). It changes with the server.

Each module re-exports names of the core, so that an extension imports `assent` and `assent.platform` only.
A test counts the names that ours use.
"""
