"""The interpreter and its state."""
