"""What everything else stands on: journal, idempotency, jobs, tenancy, keys, vault, rate limits."""
