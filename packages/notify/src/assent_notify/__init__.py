"""Ways to reach people beyond those of the core, as an extension."""
