"""Workflow definitions on disk: reading files, and the library of those that a server offers."""
