"""HTTP effects: sections of the settings file that send an approved JSON request."""
