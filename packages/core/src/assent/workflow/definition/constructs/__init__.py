"""The constructs an author can write. `compiler` has the table that finds them."""
