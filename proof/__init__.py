"""The judge of the fault programme: reads what clients, providers and the public surface recorded, and imports nothing
of the server."""
