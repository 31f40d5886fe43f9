"""Commands for the person who operates a server."""
