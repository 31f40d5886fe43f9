"""What checks Assent and its extensions: from outside, by contracts, against emulated providers."""
