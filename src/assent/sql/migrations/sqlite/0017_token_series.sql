-- Which series of tokens a run is known by. A run that came in from a bundle keeps its id and gets a series of its own, so
-- that no token of where it came from is a token of it, also where both have the same key.

ALTER TABLE workflow_runs ADD COLUMN series INTEGER NOT NULL DEFAULT 0;
