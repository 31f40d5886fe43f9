"""Commands for the authors of workflows."""
