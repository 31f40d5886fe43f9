"""Shared basics: ids, canonical JSON, tokens, times, refusals, limits."""
