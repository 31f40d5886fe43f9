"""The processes: serve and stdio."""
