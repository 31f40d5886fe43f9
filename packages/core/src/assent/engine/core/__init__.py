"""The base of the engine: journal, idempotency, jobs, tenancy, keys, vault, rate limits."""
