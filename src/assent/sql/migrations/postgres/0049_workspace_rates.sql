-- Calls that a workspace may make in a minute; nothing for as many as the settings of the server say.
ALTER TABLE workspaces ADD COLUMN calls_per_minute BIGINT;
