"""Agents and frameworks that run their own tools behind the gate. Each imports its framework alone."""
