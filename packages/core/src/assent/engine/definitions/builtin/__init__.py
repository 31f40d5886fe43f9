"""The workflow definitions that ship with the server: data files, no code."""
