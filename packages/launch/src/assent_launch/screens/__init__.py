"""Screens of the console: the memory and the results."""
