"""Metrics, and recommendations from them."""
