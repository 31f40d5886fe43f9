"""Authors' regular expressions, matched in linear time."""
