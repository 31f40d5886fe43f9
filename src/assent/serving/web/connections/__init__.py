"""Connecting providers."""
