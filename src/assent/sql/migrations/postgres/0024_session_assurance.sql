-- How sure the server is who a signed-in browser belongs to. Whoever claims a sign-up gets in by an address that the
-- agent holds too; a link from a terminal, an invitation or a mail makes a person.
ALTER TABLE sessions ADD COLUMN assurance TEXT NOT NULL DEFAULT 'person';

-- Somebody who asks for a link by mail says no more than their address.
CREATE INDEX people_by_email ON people (workspace_id, lower(email));
