"""The public feed."""
