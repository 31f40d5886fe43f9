-- When a page of the feed was taken down; its text and its counts stay.
ALTER TABLE site_posts ADD COLUMN removed_ms INTEGER;
