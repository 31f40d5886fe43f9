"""Shared by all pages: layout, forms, headers, problems."""
