"""The execution contract as pure values and functions: no clock, no entropy, no I/O, no transport."""
