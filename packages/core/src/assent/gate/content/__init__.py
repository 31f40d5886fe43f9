"""Content checks: refusals by form, warnings by wording."""
