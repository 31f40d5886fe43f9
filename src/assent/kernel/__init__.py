"""What everything stands on and what knows no contract noun: ids, canonical JSON, tokens, refusals, limits."""
