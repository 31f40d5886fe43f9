-- Whether a tool has said that it only reads since the server's first list, which was accepted at one moment.
ALTER TABLE wrap_tools ADD COLUMN hinted BIGINT NOT NULL DEFAULT 0;

UPDATE wrap_tools SET hinted = 1 WHERE definition LIKE '%"readOnlyHint": true%' AND accepted_ms = (
  SELECT MIN(accepted_ms) FROM wrap_tools AS first
  WHERE first.workspace_id = wrap_tools.workspace_id AND first.server = wrap_tools.server
);
