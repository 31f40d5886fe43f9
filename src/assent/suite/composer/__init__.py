"""Plain drafts from evidence, for agents that bring no text."""
