-- The migrations of components: extensions with their own tables.

-- One row for each applied migration. A component that was removed keeps its rows and tables.
CREATE TABLE component_versions (
  component  TEXT NOT NULL,
  version    INTEGER NOT NULL,
  name       TEXT NOT NULL,
  prefix     TEXT NOT NULL,
  applied_at INTEGER NOT NULL,
  digest     TEXT NOT NULL,
  PRIMARY KEY (component, version)
) STRICT, WITHOUT ROWID;
