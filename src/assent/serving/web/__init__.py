"""HTML pages for people, rendered on the server, on the tools' engine functions."""
