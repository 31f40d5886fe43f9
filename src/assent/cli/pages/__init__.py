"""Generates pages of the documentation from tables of the code."""
