"""Writes e-mails and hands them to a mail server."""
