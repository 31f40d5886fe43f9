"""Draws pictures for posts."""
