"""Signing in and signing up."""
