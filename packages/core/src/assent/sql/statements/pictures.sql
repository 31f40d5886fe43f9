-- name: insert_picture
-- Insert a picture, once per workspace; one that is made again counts as new.
INSERT INTO pictures (workspace_id, digest, content_type, width, height, size, content, created_ms)
VALUES (:workspace_id, :digest, :content_type, :width, :height, :size, :content, :created_ms)
ON CONFLICT (workspace_id, digest) DO UPDATE SET created_ms = excluded.created_ms

-- name: use_picture
-- Let a run show a picture. Once an action uses it, it is kept.
INSERT INTO picture_uses (workspace_id, run_id, digest, kept) VALUES (:workspace_id, :run_id, :digest, :kept)
ON CONFLICT (workspace_id, run_id, digest) DO UPDATE
  SET kept = CASE WHEN excluded.kept = 1 THEN 1 ELSE picture_uses.kept END

-- name: find_picture
-- One picture of a workspace.
SELECT digest, content_type, width, height, content FROM pictures
WHERE workspace_id = :workspace_id AND digest = :digest

-- name: find_run_picture
-- Find a picture that a run shows. Another run's and an unknown one both find nothing.
SELECT p.digest, p.content_type, p.width, p.height, p.content
FROM picture_uses u JOIN pictures p ON p.workspace_id = u.workspace_id AND p.digest = u.digest
WHERE u.workspace_id = :workspace_id AND u.run_id = :run_id AND u.digest = :digest

-- name: sum_pictures
-- Sum the bytes of a workspace's pictures.
SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes FROM pictures WHERE workspace_id = :workspace_id

-- name: forget_pictures
-- Delete pictures that no action used in time.
DELETE FROM pictures WHERE (workspace_id, digest) IN (
  SELECT p.workspace_id, p.digest FROM pictures p
  WHERE p.created_ms < :before_ms AND NOT EXISTS (
    SELECT 1 FROM picture_uses u WHERE u.workspace_id = p.workspace_id AND u.digest = p.digest AND u.kept = 1)
  ORDER BY p.created_ms LIMIT :most)
RETURNING digest

-- name: delete_picture_use
-- Stop a run from showing a picture, because the action that had it was erased.
DELETE FROM picture_uses WHERE workspace_id = :workspace_id AND run_id = :run_id AND digest = :digest

-- name: delete_unused_picture
-- Delete a picture that no run shows any more.
DELETE FROM pictures WHERE workspace_id = :workspace_id AND digest = :digest AND NOT EXISTS (
  SELECT 1 FROM picture_uses u WHERE u.workspace_id = :workspace_id AND u.digest = :digest)

-- name: list_picture_runs
-- List the runs that show a picture.
SELECT run_id FROM picture_uses WHERE workspace_id = :workspace_id AND digest = :digest ORDER BY run_id
