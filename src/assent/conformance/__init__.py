"""The contract's checks, to be run from outside against any server that says it keeps it: `assent conform URL`.

They know the wire and the seeds, and nothing of this server's inside.
"""
