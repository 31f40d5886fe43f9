"""Metrics, and what they say."""
