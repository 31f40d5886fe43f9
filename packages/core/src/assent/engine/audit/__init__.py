"""The audit log, its verification, and reports from it."""
