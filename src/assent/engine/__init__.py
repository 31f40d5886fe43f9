"""The imperative shell between the tools and the stores: each module is transactions over named statements."""
