"""HTML pages for people: rendered on the server, on the same engine functions as the tools."""
