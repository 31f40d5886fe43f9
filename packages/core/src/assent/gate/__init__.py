"""The execution contract as pure values and functions: no clock, entropy or I/O."""
