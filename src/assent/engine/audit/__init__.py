"""The audit log and what is read from it."""
