"""From a definition to a program."""
