"""From what is known about a product to texts that people would send, and what to say about each of them.

Pure: no clock, entropy, input or output. Start with `evidence.gather`, then `composer.compose` or `composer.adapt`.
"""
