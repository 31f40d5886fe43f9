"""The operations page: waiting, deciding and failing, and rules that would ask less."""
