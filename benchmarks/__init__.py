"""`python -m benchmarks`: what this server costs, each figure beside what the same work costs without it."""
