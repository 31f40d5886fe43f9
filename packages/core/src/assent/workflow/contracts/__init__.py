"""Output contracts: the required output of a step."""
