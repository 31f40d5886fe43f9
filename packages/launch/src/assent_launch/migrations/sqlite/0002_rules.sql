-- What people asked for in every later text, among the many claims that checks proposed.
CREATE INDEX launch_brain_rules ON launch_brain_entries (workspace_id, entry_id)
  WHERE kind IN ('brand_voice', 'lesson', 'claim_risk') AND state = 'confirmed';
