"""The parts of the server that the suite and wrapped servers need. They change with the server.

Each module re-exports names of the core, so that an extension imports `assent`, `assent.platform` and
`assent.net` only.
"""
