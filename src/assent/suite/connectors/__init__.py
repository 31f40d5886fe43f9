"""Ways out into the world. `registry` is the public list; each connector is a file of its own."""
