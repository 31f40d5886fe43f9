-- name: pin_program
-- A program under its hash, once. Twice a day at most its time is renewed, which keeps it from being removed as unused
-- before its run is there.
INSERT INTO workflow_programs (workspace_id, workflow_hash, workflow_id, program, created_ms)
VALUES (:workspace_id, :workflow_hash, :workflow_id, :program, :created_ms)
ON CONFLICT (workspace_id, workflow_hash) DO UPDATE SET created_ms = excluded.created_ms
WHERE workflow_programs.created_ms < excluded.created_ms - 43200000

-- name: find_program
-- A pinned program.
SELECT program FROM workflow_programs WHERE workspace_id = :workspace_id AND workflow_hash = :workflow_hash

-- name: touch_workflow_session
-- A session comes into being with its first run, and is as fresh as its last.
INSERT INTO workflow_sessions (workspace_id, session_id, created_ms, updated_ms)
VALUES (:workspace_id, :session_id, :now_ms, :now_ms)
ON CONFLICT (workspace_id, session_id) DO UPDATE SET updated_ms = excluded.updated_ms

-- name: insert_workflow_run
-- A run, pinned to its program.
INSERT INTO workflow_runs (workspace_id, run_id, session_id, workflow_id, workflow_hash, name, nodes, series,
                           created_ms, updated_ms)
VALUES (:workspace_id, :run_id, :session_id, :workflow_id, :workflow_hash, :name, 1, :series, :now_ms, :now_ms)

-- name: find_workflow_run
-- One run of a workspace.
SELECT run_id, session_id, workflow_id, workflow_hash, name, nodes, series, created_ms, updated_ms
FROM workflow_runs WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: find_workflow_node
-- A node with its run and where the log of that run ends: what an advance needs, in one look-up, however long the run is.
SELECT n.node, n.snapshot, n.children, n.next_edge, n.next_node, n.next_state, n.next_ack, r.run_id, r.session_id,
       r.workflow_id, r.workflow_hash, r.name, r.nodes, r.series, s.seq, s.hash, s.updated_at
FROM workflow_nodes n JOIN workflow_runs r ON r.workspace_id = n.workspace_id AND r.run_id = n.run_id
LEFT JOIN streams s ON s.workspace_id = n.workspace_id AND s.stream_id = n.run_id
WHERE n.workspace_id = :workspace_id AND n.run_id = :run_id AND n.node = :node

-- name: insert_workflow_node
-- A node of a run.
INSERT INTO workflow_nodes (workspace_id, run_id, node, parent, step_key, title, notes, artifacts, snapshot,
                            is_complete, children, event_seq, created_ms)
VALUES (:workspace_id, :run_id, :node, :parent, :step_key, :title, :notes, :artifacts, :snapshot,
        :is_complete, 0, :event_seq, :created_ms)

-- name: take_first_way
-- A node has got its first child, from which its answer can be made again; only the tokens are kept as they were.
UPDATE workflow_nodes SET children = 1, next_edge = :edge, next_node = :child, next_state = :state, next_ack = :ack
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node

-- name: count_workflow_child
-- A node has got one more branch.
UPDATE workflow_nodes SET children = children + 1
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node

-- name: grow_workflow_run
-- A run has got one more node.
UPDATE workflow_runs SET nodes = nodes + 1, updated_ms = :now_ms
WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: store_workflow_snapshot
-- A refused answer changes nothing of a node but how often it was refused.
UPDATE workflow_nodes SET snapshot = :snapshot
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node

-- name: find_workflow_changes [postgres, skipped on sqlite]
-- What has become of a node between its look-up and the lock of its run; no row where nothing has. A node that is gone
-- is a row without one. The one writer of SQLite is the lock from the start.
SELECT n.node, n.snapshot, n.children, n.next_edge, n.next_node, n.next_state, n.next_ack, r.nodes
FROM (SELECT 1) AS looked
LEFT JOIN workflow_nodes n ON n.workspace_id = :workspace_id AND n.run_id = :run_id AND n.node = :node
LEFT JOIN workflow_runs r ON r.workspace_id = n.workspace_id AND r.run_id = n.run_id
WHERE n.node IS NULL OR r.nodes <> :nodes OR n.children <> :children OR n.snapshot <> :snapshot

-- name: find_workflow_answer
-- What was answered at a node to the same tokens and content before.
SELECT child, answer, text FROM workflow_answers
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node AND edge = :edge

-- name: keep_workflow_answer
-- An answer that cannot be made again from a node, to be given again word for word.
INSERT INTO workflow_answers (workspace_id, run_id, node, edge, child, answer, text, created_ms)
VALUES (:workspace_id, :run_id, :node, :edge, :child, :answer, :text, :created_ms)

-- name: list_workflow_ancestors
-- The way from the start to a node, newest first, with what was noted on it: the newest notes within a budget of
-- characters, of older ones only that there are some.
WITH RECURSIVE way (node, parent, step_key, title, notes) AS (
  SELECT node, parent, step_key, title, notes FROM workflow_nodes
  WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node
  UNION ALL
  SELECT n.node, n.parent, n.step_key, n.title, n.notes
  FROM workflow_nodes n JOIN way w ON n.node = w.parent
  WHERE n.workspace_id = :workspace_id AND n.run_id = :run_id
),
counted (node, step_key, title, notes, before) AS (
  SELECT node, step_key, title, notes,
    coalesce(sum(length(notes)) OVER (ORDER BY node DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
  FROM way
)
SELECT node, step_key, title, CASE WHEN before <= :budget THEN notes ELSE '' END AS notes,
  CASE WHEN before > :budget AND trim(notes) <> '' THEN 1 ELSE 0 END AS left_out
FROM counted ORDER BY node DESC

-- name: list_workflow_nodes
-- Every node of a run, in the order in which they came to be.
SELECT node, parent, step_key, title, notes, artifacts, snapshot, is_complete, children, event_seq, created_ms,
       next_edge, next_node, next_state, next_ack
FROM workflow_nodes WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY node

-- name: find_workflow_tip
-- The leaf with the latest event in the log: checkpoints count, clocks do not.
SELECT n.node FROM workflow_nodes n
LEFT JOIN workflow_checkpoints c
  ON c.workspace_id = n.workspace_id AND c.run_id = n.run_id AND c.node = n.node
WHERE n.workspace_id = :workspace_id AND n.run_id = :run_id AND n.children = 0
GROUP BY n.node, n.event_seq
ORDER BY CASE WHEN coalesce(max(c.event_seq), 0) > n.event_seq THEN max(c.event_seq) ELSE n.event_seq END DESC,
         n.node DESC
LIMIT 1

-- name: insert_workflow_checkpoint
-- Notes on a node; the same notes again are the same checkpoint.
INSERT INTO workflow_checkpoints (workspace_id, run_id, node, digest, notes, event_seq, created_ms)
VALUES (:workspace_id, :run_id, :node, :digest, :notes, :event_seq, :created_ms)
ON CONFLICT (workspace_id, run_id, node, digest) DO NOTHING
RETURNING node

-- name: find_workflow_checkpoint
-- Whether these notes are on this node already.
SELECT event_seq FROM workflow_checkpoints
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node AND digest = :digest

-- name: list_workflow_checkpoints
-- The checkpoints of a run, in order.
SELECT node, digest, notes, event_seq, created_ms FROM workflow_checkpoints
WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY event_seq

-- name: find_workflow_confirmation
-- The action that a human was asked about last for this content.
SELECT action_id FROM workflow_confirmations
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node AND content = :content
ORDER BY event_seq DESC LIMIT 1

-- name: set_workflow_confirmation
-- A human is asked about this content; once that is over, about a new action.
INSERT INTO workflow_confirmations (workspace_id, run_id, node, content, step_key, action_id, event_seq)
VALUES (:workspace_id, :run_id, :node, :content, :step_key, :action_id, :event_seq)
ON CONFLICT (workspace_id, run_id, node, content, action_id) DO NOTHING

-- name: list_step_confirmations
-- What humans were asked about this step before, on any branch of this run.
SELECT DISTINCT a.status FROM workflow_confirmations c
JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id
WHERE c.workspace_id = :workspace_id AND c.run_id = :run_id AND c.step_key = :step_key AND c.action_id <> :but
  AND (a.status <> 'awaiting_approval' OR a.expires_ms IS NULL OR a.expires_ms > :now_ms)

-- name: find_open_confirmation
-- What a human was last asked about this very step of a node and what can still be passed with.
SELECT a.action_id, a.status FROM workflow_confirmations c
JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id
WHERE c.workspace_id = :workspace_id AND c.run_id = :run_id AND c.node = :node
  AND a.status IN ('awaiting_approval', 'approved') AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
ORDER BY c.event_seq DESC LIMIT 1

-- name: lock_waiting_confirmations [sqlite]
-- What a human is still asked about a node besides one action.
SELECT a.action_id FROM workflow_confirmations c
JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id
WHERE c.workspace_id = :workspace_id AND c.run_id = :run_id AND c.node = :node AND c.action_id <> :but
  AND a.status = 'awaiting_approval' AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
ORDER BY c.event_seq

-- name: lock_waiting_confirmations [postgres]
-- The same, locked. What a person is deciding at this moment is left out: they hold it and wait for the run.
SELECT a.action_id FROM workflow_confirmations c
JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id
WHERE c.workspace_id = :workspace_id AND c.run_id = :run_id AND c.node = :node AND c.action_id <> :but
  AND a.status = 'awaiting_approval' AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
ORDER BY c.event_seq
FOR UPDATE OF a SKIP LOCKED

-- name: list_workflow_runs
-- Runs of a workspace, freshest first; empty filters match all.
SELECT run_id, session_id, workflow_id, workflow_hash, name, nodes, series, created_ms, updated_ms FROM workflow_runs
WHERE workspace_id = :workspace_id
  AND (:session_id = '' OR session_id = :session_id) AND (:workflow_id = '' OR workflow_id = :workflow_id)
ORDER BY updated_ms DESC, run_id DESC LIMIT :most

-- name: search_workflow_runs [sqlite]
-- Of the newest runs those in which words occur, with how many; empty filters and words match all and nothing.
-- Both cases of a letter stand in the pattern: a database of the C locale knows them of ASCII letters only.
WITH recent AS (
  SELECT workspace_id, run_id, session_id, workflow_id, workflow_hash, name, nodes, series, created_ms, updated_ms
  FROM workflow_runs
  WHERE workspace_id = :workspace_id
    AND (:session_id = '' OR session_id = :session_id) AND (:workflow_id = '' OR workflow_id = :workflow_id)
  ORDER BY updated_ms DESC, run_id DESC LIMIT :runs
),
told (run_id, said) AS (
  SELECT run_id, session_id || ' ' || name || ' ' || workflow_id FROM recent
  UNION ALL
  SELECT r.run_id, n.title || ' ' || substr(n.notes, 1, :chars) FROM recent r
  JOIN workflow_nodes n ON n.workspace_id = r.workspace_id AND n.run_id = r.run_id AND n.node >= r.nodes - :newest
  UNION ALL
  SELECT r.run_id, substr(c.notes, 1, :chars) FROM recent r
  JOIN workflow_checkpoints c ON c.workspace_id = r.workspace_id AND c.run_id = r.run_id
    AND c.node >= r.nodes - :newest
),
ranked (run_id, words_found, together) AS (
  SELECT run_id,
    max(CASE WHEN :word_1 <> '' AND said REGEXP :word_1 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_2 <> '' AND said REGEXP :word_2 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_3 <> '' AND said REGEXP :word_3 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_4 <> '' AND said REGEXP :word_4 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_5 <> '' AND said REGEXP :word_5 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_6 <> '' AND said REGEXP :word_6 THEN 1 ELSE 0 END),
    max(CASE WHEN said REGEXP :whole THEN 1 ELSE 0 END)
  FROM told WHERE said REGEXP :any_word GROUP BY run_id
)
SELECT r.run_id, r.session_id, r.workflow_id, r.workflow_hash, r.name, r.nodes, r.series, r.created_ms, r.updated_ms,
       f.words_found
FROM ranked f JOIN recent r ON r.run_id = f.run_id
ORDER BY f.words_found DESC, f.together DESC, r.updated_ms DESC, r.run_id DESC LIMIT :most

-- name: search_workflow_runs [postgres]
-- Of the newest runs those in which words occur, with how many; empty filters and words match all and nothing.
WITH recent AS (
  SELECT workspace_id, run_id, session_id, workflow_id, workflow_hash, name, nodes, series, created_ms, updated_ms
  FROM workflow_runs
  WHERE workspace_id = :workspace_id
    AND (:session_id = '' OR session_id = :session_id) AND (:workflow_id = '' OR workflow_id = :workflow_id)
  ORDER BY updated_ms DESC, run_id DESC LIMIT :runs
),
told (run_id, said) AS (
  SELECT run_id, session_id || ' ' || name || ' ' || workflow_id FROM recent
  UNION ALL
  SELECT r.run_id, n.title || ' ' || substr(n.notes, 1, :chars) FROM recent r
  JOIN workflow_nodes n ON n.workspace_id = r.workspace_id AND n.run_id = r.run_id AND n.node >= r.nodes - :newest
  UNION ALL
  SELECT r.run_id, substr(c.notes, 1, :chars) FROM recent r
  JOIN workflow_checkpoints c ON c.workspace_id = r.workspace_id AND c.run_id = r.run_id
    AND c.node >= r.nodes - :newest
),
ranked (run_id, words_found, together) AS (
  SELECT run_id,
    max(CASE WHEN CAST(:word_1 AS TEXT) <> '' AND said ~ :word_1 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_2 AS TEXT) <> '' AND said ~ :word_2 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_3 AS TEXT) <> '' AND said ~ :word_3 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_4 AS TEXT) <> '' AND said ~ :word_4 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_5 AS TEXT) <> '' AND said ~ :word_5 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_6 AS TEXT) <> '' AND said ~ :word_6 THEN 1 ELSE 0 END),
    max(CASE WHEN said ~ :whole THEN 1 ELSE 0 END)
  FROM told WHERE said ~ :any_word GROUP BY run_id
)
SELECT r.run_id, r.session_id, r.workflow_id, r.workflow_hash, r.name, r.nodes, r.series, r.created_ms, r.updated_ms,
       f.words_found
FROM ranked f JOIN recent r ON r.run_id = f.run_id
ORDER BY f.words_found DESC, f.together DESC, r.updated_ms DESC, r.run_id DESC LIMIT :most

-- name: list_session_runs
-- The runs of one session, oldest first.
SELECT run_id, session_id, workflow_id, workflow_hash, name, nodes, series, created_ms, updated_ms FROM workflow_runs
WHERE workspace_id = :workspace_id AND session_id = :session_id ORDER BY created_ms, run_id

-- name: list_workflow_answers
-- Every answer of a run.
SELECT node, edge, child, answer, text, created_ms FROM workflow_answers
WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY node, edge

-- name: list_runs_after
-- The runs of a workspace, or of all where none is named, in the order of their keys.
SELECT workspace_id, run_id, session_id, workflow_id, workflow_hash, name, created_ms, updated_ms FROM workflow_runs
WHERE (workspace_id, run_id) > (:after_workspace, :after_run) AND (:workspace_id = '' OR workspace_id = :workspace_id)
ORDER BY workspace_id, run_id LIMIT :most

-- name: find_workflow_session
-- Whether there is a session of this name.
SELECT session_id, created_ms, updated_ms FROM workflow_sessions
WHERE workspace_id = :workspace_id AND session_id = :session_id

-- name: list_workflow_sessions
-- The sessions of a workspace, freshest first, with how many runs each has.
SELECT s.session_id, s.created_ms, s.updated_ms, count(r.run_id) AS runs FROM workflow_sessions s
LEFT JOIN workflow_runs r ON r.workspace_id = s.workspace_id AND r.session_id = s.session_id
WHERE s.workspace_id = :workspace_id GROUP BY s.session_id, s.created_ms, s.updated_ms
ORDER BY s.updated_ms DESC, s.session_id LIMIT :most

-- name: touch_workflow_run
-- Something was noted on a run.
UPDATE workflow_runs SET updated_ms = :now_ms WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: list_stale_sessions
-- Sessions of which nothing was touched since a time and in which no question waits for a person, oldest first.
SELECT s.workspace_id, s.session_id FROM workflow_sessions s
WHERE s.updated_ms < :before_ms
  AND NOT EXISTS (SELECT 1 FROM workflow_runs r WHERE r.workspace_id = s.workspace_id
                  AND r.session_id = s.session_id AND r.updated_ms >= :before_ms)
  AND NOT EXISTS (SELECT 1 FROM workflow_runs r
                  JOIN workflow_confirmations c ON c.workspace_id = r.workspace_id AND c.run_id = r.run_id
                  JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id
                  WHERE r.workspace_id = s.workspace_id AND r.session_id = s.session_id
                  AND a.status IN ('awaiting_approval', 'approved')
                  AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms))
ORDER BY s.updated_ms LIMIT :most

-- name: forget_session_nodes
-- The nodes of a session that goes.
DELETE FROM workflow_nodes WHERE workspace_id = :workspace_id AND run_id IN (
  SELECT run_id FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id)

-- name: forget_session_answers
-- The answers of a session that goes.
DELETE FROM workflow_answers WHERE workspace_id = :workspace_id AND run_id IN (
  SELECT run_id FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id)

-- name: forget_session_checkpoints
-- The checkpoints of a session that goes.
DELETE FROM workflow_checkpoints WHERE workspace_id = :workspace_id AND run_id IN (
  SELECT run_id FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id)

-- name: forget_session_confirmations
-- The confirmations of a session that goes.
DELETE FROM workflow_confirmations WHERE workspace_id = :workspace_id AND run_id IN (
  SELECT run_id FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id)

-- name: forget_session_runs
-- The runs of a session that goes.
DELETE FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id

-- name: forget_session
-- A session that goes.
DELETE FROM workflow_sessions WHERE workspace_id = :workspace_id AND session_id = :session_id

-- name: forget_programs
-- Programs that no run is pinned to and that nobody has started since.
DELETE FROM workflow_programs WHERE workspace_id = :workspace_id AND created_ms < :before_ms AND NOT EXISTS (
  SELECT 1 FROM workflow_runs r WHERE r.workspace_id = workflow_programs.workspace_id
  AND r.workflow_hash = workflow_programs.workflow_hash)

-- name: insert_session_note
-- A person's note on a session.
INSERT INTO workflow_session_notes (workspace_id, session_id, note_id, author, notes, created_ms)
VALUES (:workspace_id, :session_id, :note_id, :author, :notes, :created_ms)

-- name: list_session_notes
-- The notes of people on a session, oldest first.
SELECT note_id, author, notes, created_ms FROM workflow_session_notes
WHERE workspace_id = :workspace_id AND session_id = :session_id ORDER BY created_ms, note_id

-- name: forget_session_notes
-- The notes of a session that goes.
DELETE FROM workflow_session_notes WHERE workspace_id = :workspace_id AND session_id = :session_id

-- name: list_workflow_parents
-- The tree of a run, of a long one the newest part: the first columns of each node and nothing that is large.
SELECT node, parent FROM workflow_nodes
WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY node DESC LIMIT :most

-- name: list_workflow_places [sqlite]
-- What can be said of some nodes in a line each; a snapshot only where it is small.
SELECT node, title, step_key, substr(notes, 1, 400) AS notes, is_complete,
       CASE WHEN length(snapshot) <= 16384 THEN snapshot ELSE '' END AS snapshot
FROM workflow_nodes
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node IN (SELECT value FROM json_each(:nodes))

-- name: list_workflow_places [postgres]
-- The same.
SELECT node, title, step_key, substr(notes, 1, 400) AS notes, is_complete,
       CASE WHEN length(snapshot) <= 16384 THEN snapshot ELSE '' END AS snapshot
FROM workflow_nodes
WHERE workspace_id = :workspace_id AND run_id = :run_id
  AND node IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:nodes AS JSON)) AS value)
