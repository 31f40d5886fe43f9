"""Connectors, one module per provider. `registry` describes them all."""
