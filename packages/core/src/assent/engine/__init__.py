"""The imperative shell between tools and stores: transactions over named statements."""
