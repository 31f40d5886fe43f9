"""The tools of the reference operators."""
