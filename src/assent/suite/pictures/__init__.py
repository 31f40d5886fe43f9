"""Pictures for posts."""
