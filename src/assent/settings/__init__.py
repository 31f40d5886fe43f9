"""Settings: table, files, environment."""
