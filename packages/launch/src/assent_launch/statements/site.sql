-- name: insert_site_post
-- Insert a page of the feed, once per action and revision.
INSERT INTO launch_site_posts (workspace_id, action_id, revision, post_id, title, body, link, media, published_ms)
VALUES (:workspace_id, :action_id, :revision, :post_id, :title, :body, :link, :media, :published_ms)
ON CONFLICT (workspace_id, action_id, revision) DO NOTHING

-- name: find_site_post_of_action
-- Find the page of an action.
SELECT post_id, published_ms FROM launch_site_posts
WHERE workspace_id = :workspace_id AND action_id = :action_id AND revision = :revision

-- name: find_site_post
-- Find a page. An unknown workspace and an unknown post both find nothing.
SELECT p.* FROM launch_site_posts p WHERE p.workspace_id = :workspace_id AND p.post_id = :post_id

-- name: list_site_posts
-- List the newest pages before a cursor.
SELECT p.* FROM launch_site_posts p
WHERE p.workspace_id = :workspace_id AND p.removed_ms IS NULL
  AND (p.published_ms, p.post_id) < (:before_ms, :before_id)
ORDER BY p.published_ms DESC, p.post_id DESC LIMIT :most

-- name: remove_site_post
-- Take a page down, once.
UPDATE launch_site_posts SET removed_ms = :removed_ms
WHERE workspace_id = :workspace_id AND post_id = :post_id AND removed_ms IS NULL

-- name: add_site_visits
-- Add new visits to those of the day.
INSERT INTO launch_site_visits (workspace_id, post_id, day, link, visits)
VALUES (:workspace_id, :post_id, :day, :link, :visits)
ON CONFLICT (workspace_id, post_id, day, link) DO UPDATE SET visits = launch_site_visits.visits + excluded.visits

-- name: list_site_visits
-- List the views and link clicks of a post, by day.
SELECT day, link, visits FROM launch_site_visits
WHERE workspace_id = :workspace_id AND post_id = :post_id
ORDER BY day, link
