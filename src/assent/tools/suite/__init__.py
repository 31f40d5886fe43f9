"""Tools of the reference operators."""
