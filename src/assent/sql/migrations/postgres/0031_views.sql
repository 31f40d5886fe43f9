-- How people see a revision of an action, as data. Rows of earlier versions get theirs when the store is first opened.
ALTER TABLE actions ADD COLUMN view TEXT NOT NULL DEFAULT '';

ALTER TABLE action_revisions ADD COLUMN view TEXT NOT NULL DEFAULT '';

CREATE INDEX actions_without_view ON actions (workspace_id, action_id) WHERE view = '';
