"""Webhook deliveries and long runs."""
