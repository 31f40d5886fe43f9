"""Regular expressions of authors, matched in linear time."""
