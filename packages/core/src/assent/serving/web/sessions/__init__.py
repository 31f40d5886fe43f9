"""Workflow sessions."""
