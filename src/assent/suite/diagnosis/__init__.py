"""Diagnosis of marketing."""
