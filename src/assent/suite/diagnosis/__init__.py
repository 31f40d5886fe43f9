"""Finds problems of running campaigns in the numbers that are known."""
