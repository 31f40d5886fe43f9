"""People, members and how they are reached."""
