"""The reference operators of the contract and the code they need."""
