"""Turns evidence about a product into texts, and checks texts against it.

Pure: no clock, entropy, input or output. Start with `evidence.gather`, then `note.write_note` or
`adapter.adapt`.
"""
