"""Outgoing connections and the SSRF guard."""
