"""Turns evidence about a product into drafts, and checks drafts against it.

Pure: no clock, entropy, input or output. Start with `evidence.gather`, then `composer.compose` or
`composer.adapt`.
"""
