"""Settings of a workspace."""
