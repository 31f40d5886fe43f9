"""Erasure of a person's data, and of content that is older than it is kept."""
