"""Workflow runs."""
