"""HTML pages for people: rendered on the server, no scripts, on the same engine functions as the tools."""
