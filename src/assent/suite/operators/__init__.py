"""The operators, one module each. An operator returns the drafts and effects it wants and performs none of them."""
