"""Guides: quickstart and closed loop."""
