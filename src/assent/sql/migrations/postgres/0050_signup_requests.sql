-- The client address that a sign-up was asked from, the hash of the link that was mailed to its e-mail address, and what
-- an owner of the server decided about it: nothing, admitted or rejected. Whether a workspace came from a sign-up.
ALTER TABLE signup_links ADD COLUMN asked_from TEXT NOT NULL DEFAULT '';
ALTER TABLE signup_links ADD COLUMN mail_hash TEXT;
ALTER TABLE signup_links ADD COLUMN decision TEXT NOT NULL DEFAULT '';
ALTER TABLE workspaces ADD COLUMN signed_up INTEGER NOT NULL DEFAULT 0;
