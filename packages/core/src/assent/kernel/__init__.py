"""Shared basics: ids, canonical JSON, tokens, times, refusals with their reasons, and limits."""
