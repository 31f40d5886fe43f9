-- Whether the client of a key asks its person in a dialog of its own; 0 for clients that answer by themselves.
ALTER TABLE api_keys ADD COLUMN client_dialog INTEGER NOT NULL DEFAULT 1;
