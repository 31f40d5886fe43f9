-- name: list_wrap_profiles
-- List the profiles of a workspace, newest use first.
SELECT profile_id FROM wrap_profiles WHERE workspace_id = :workspace_id ORDER BY used_ms DESC, profile_id LIMIT :most

-- name: put_wrap_profile
-- Record a profile, or its use.
INSERT INTO wrap_profiles (workspace_id, profile_id, used_ms) VALUES (:workspace_id, :profile_id, :now_ms)
ON CONFLICT (workspace_id, profile_id) DO UPDATE SET used_ms = excluded.used_ms

-- name: list_unused_wrap_profiles
-- List profiles of a workspace that were not used since a time.
SELECT profile_id FROM wrap_profiles WHERE workspace_id = :workspace_id AND used_ms < :before_ms LIMIT :most

-- name: drop_wrap_profile
-- Forget a profile.
DELETE FROM wrap_profiles WHERE workspace_id = :workspace_id AND profile_id = :profile_id

-- name: list_wrap_pins
-- List the accepted definitions of a workspace's servers.
SELECT server, tool, pin, hinted FROM wrap_tools WHERE workspace_id = :workspace_id

-- name: find_wrap_tool
-- Find the accepted definition of a tool.
SELECT pin, definition FROM wrap_tools WHERE workspace_id = :workspace_id AND server = :server AND tool = :tool

-- name: put_wrap_tool
-- Accept a definition that a person approved. Its hint counts if it was there before; that of a new tool does not.
INSERT INTO wrap_tools (workspace_id, server, tool, pin, definition, accepted_ms, hinted)
VALUES (:workspace_id, :server, :tool, :pin, :definition, :now_ms, 0)
ON CONFLICT (workspace_id, server, tool)
DO UPDATE SET pin = excluded.pin, definition = excluded.definition, accepted_ms = excluded.accepted_ms,
  hinted = wrap_tools.hinted * :hinted

-- name: add_wrap_tool
-- Accept the definition of a server's first list, unless the tool has one.
INSERT INTO wrap_tools (workspace_id, server, tool, pin, definition, accepted_ms, hinted)
VALUES (:workspace_id, :server, :tool, :pin, :definition, :now_ms, :hinted)
ON CONFLICT (workspace_id, server, tool) DO NOTHING

-- name: find_wrap_call
-- Find the newest proposal of a call.
SELECT generation, action_id FROM wrap_calls WHERE workspace_id = :workspace_id AND holder = :holder AND call = :call

-- name: put_wrap_call
-- Record the newest proposal of a call. An older one changes nothing.
INSERT INTO wrap_calls (workspace_id, holder, call, generation, action_id)
VALUES (:workspace_id, :holder, :call, :generation, :action_id)
ON CONFLICT (workspace_id, holder, call)
DO UPDATE SET generation = excluded.generation, action_id = excluded.action_id
WHERE wrap_calls.generation < excluded.generation

-- name: count_wrap_observed
-- Count a call that the gate would have asked about: all calls of the tool, or those with this beginning.
INSERT INTO wrap_observed (workspace_id, server, tool, argument, beginning, calls, last_ms)
VALUES (:workspace_id, :server, :tool, :argument, :beginning, 1, :now_ms)
ON CONFLICT (workspace_id, server, tool, argument, beginning)
DO UPDATE SET calls = wrap_observed.calls + 1, last_ms = excluded.last_ms

-- name: list_wrap_observed
-- List the observed calls of a server, the most frequent first.
SELECT tool, argument, beginning, calls FROM wrap_observed
WHERE workspace_id = :workspace_id AND server = :server ORDER BY calls DESC, tool, argument, beginning LIMIT :most

-- name: list_wrap_definitions
-- List the accepted definitions with their texts.
SELECT server, tool, definition, hinted FROM wrap_tools WHERE workspace_id = :workspace_id ORDER BY server, tool

-- name: list_wrap_rules
-- List the rules of a workspace.
SELECT name, body, seal, set_by, set_ms, used, last_ms FROM wrap_rules WHERE workspace_id = :workspace_id ORDER BY name

-- name: put_wrap_rule
-- Set a rule, in place of the one with its name. Its calls are counted from now on.
INSERT INTO wrap_rules (workspace_id, name, body, seal, set_by, set_ms, used)
VALUES (:workspace_id, :name, :body, :seal, :set_by, :now_ms, 0)
ON CONFLICT (workspace_id, name)
DO UPDATE SET body = excluded.body, seal = excluded.seal, set_by = excluded.set_by, set_ms = excluded.set_ms,
  used = 0, last_ms = NULL

-- name: drop_wrap_rule
-- End a rule.
DELETE FROM wrap_rules WHERE workspace_id = :workspace_id AND name = :name RETURNING name

-- name: use_wrap_rule
-- Count a call that a rule lets pass, if the rule still stands and has one left.
UPDATE wrap_rules SET used = used + 1, last_ms = :now_ms
WHERE workspace_id = :workspace_id AND name = :name AND seal = :seal AND used < :most RETURNING used
