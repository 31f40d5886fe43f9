"""Composes plain drafts from evidence, for agents that supply no text."""
