"""What other systems do with the same task. Runs in `.peers`, an environment of its own."""
