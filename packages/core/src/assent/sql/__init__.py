"""Every SQL statement, by name."""
