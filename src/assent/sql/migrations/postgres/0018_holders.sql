-- Whose a stored answer is: the line of the API key that got it. NULL where it was stored before that was known; such an
-- answer is given to every key of its workspace.

ALTER TABLE idempotency ADD COLUMN holder TEXT;

-- The first key of the line that a rotated key continues; NULL for a key that succeeds none.

ALTER TABLE api_keys ADD COLUMN first_key_id TEXT;
