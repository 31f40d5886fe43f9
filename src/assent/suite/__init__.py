"""The reference operators of the contract and what they need."""
