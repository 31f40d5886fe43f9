-- Which groups of tools a key is shown; nothing for those of the server.
ALTER TABLE api_keys ADD COLUMN toolsets TEXT NOT NULL DEFAULT '';
