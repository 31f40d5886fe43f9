"""E-mail over SMTP and Resend."""
