"""Reads memory and results for drafts and diagnoses."""
