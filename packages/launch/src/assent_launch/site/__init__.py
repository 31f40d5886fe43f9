"""The public site of a workspace: its posts, its pages and the counts of its visitors."""
