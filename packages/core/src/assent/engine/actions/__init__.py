"""Staging, deciding and executing actions."""
