"""Read models for pages and answers."""
