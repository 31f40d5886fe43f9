"""The job runner."""
