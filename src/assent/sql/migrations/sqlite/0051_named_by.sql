-- Who gave a person their name: a file of people, the issuer that identifies them, or (empty) they themselves.
ALTER TABLE people ADD COLUMN named_by TEXT NOT NULL DEFAULT '';
UPDATE people SET named_by = 'issuer' WHERE EXISTS (
  SELECT 1 FROM identities i WHERE i.workspace_id = people.workspace_id AND i.person_id = people.person_id);
