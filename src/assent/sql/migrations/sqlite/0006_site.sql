-- The public feed of each workspace, and how often its posts were seen.

-- One page per action and revision: publishing again finds it.
CREATE TABLE site_posts (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     INTEGER NOT NULL,
  post_id      TEXT NOT NULL,
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  link         TEXT NOT NULL,
  media        TEXT NOT NULL,
  published_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, action_id, revision)
) STRICT;

CREATE UNIQUE INDEX site_posts_by_address ON site_posts (workspace_id, post_id);

CREATE INDEX site_posts_newest ON site_posts (workspace_id, published_ms, post_id);

-- Visits of a post on a day: views where `link` is empty, else clicks on that link. Nothing about who.
CREATE TABLE site_visits (
  workspace_id TEXT NOT NULL,
  post_id      TEXT NOT NULL,
  day          INTEGER NOT NULL,
  link         TEXT NOT NULL,
  visits       INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, post_id, day, link)
) STRICT, WITHOUT ROWID;
