"""What a step's output must be."""
