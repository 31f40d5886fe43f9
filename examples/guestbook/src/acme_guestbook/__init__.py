"""A guest book that agents sign with a person's consent."""
