"""Memory, measurement and diagnosis."""
