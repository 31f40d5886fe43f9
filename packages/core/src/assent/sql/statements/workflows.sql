-- name: pin_program
-- Insert a program under its hash, once. Its time is renewed at most twice a day, so that it is not removed as unused
-- before its run is stored.
INSERT INTO workflow_programs (workspace_id, workflow_hash, workflow_id, program, created_ms)
VALUES (:workspace_id, :workflow_hash, :workflow_id, :program, :created_ms)
ON CONFLICT (workspace_id, workflow_hash) DO UPDATE SET created_ms = excluded.created_ms
WHERE workflow_programs.created_ms < excluded.created_ms - 43200000

-- name: find_program
-- Find a pinned program.
SELECT program FROM workflow_programs WHERE workspace_id = :workspace_id AND workflow_hash = :workflow_hash

-- name: touch_workflow_session
-- Insert a session with its first run, or renew its time.
INSERT INTO workflow_sessions (workspace_id, session_id, created_ms, updated_ms)
VALUES (:workspace_id, :session_id, :now_ms, :now_ms)
ON CONFLICT (workspace_id, session_id) DO UPDATE SET updated_ms = excluded.updated_ms

-- name: insert_workflow_run
-- Insert a run, pinned to its program.
INSERT INTO workflow_runs (workspace_id, run_id, session_id, workflow_id, workflow_hash, name, nodes, series,
                           created_ms, updated_ms)
VALUES (:workspace_id, :run_id, :session_id, :workflow_id, :workflow_hash, :name, 1, :series, :now_ms, :now_ms)

-- name: find_workflow_run
-- One run of a workspace.
SELECT run_id, session_id, workflow_id, workflow_hash, name, nodes, series, created_ms, updated_ms
FROM workflow_runs WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: find_workflow_node
-- Find a node with its run and the head of the run's log: all that an advance needs, in one look-up of constant cost.
SELECT n.node, n.snapshot, n.children, n.next_edge, n.next_node, n.next_state, n.next_ack, r.run_id, r.session_id,
       r.workflow_id, r.workflow_hash, r.name, r.nodes, r.series, s.seq, s.hash, s.updated_at
FROM workflow_nodes n JOIN workflow_runs r ON r.workspace_id = n.workspace_id AND r.run_id = n.run_id
LEFT JOIN streams s ON s.workspace_id = n.workspace_id AND s.stream_id = n.run_id
WHERE n.workspace_id = :workspace_id AND n.run_id = :run_id AND n.node = :node

-- name: insert_workflow_node
-- Insert a node of a run.
INSERT INTO workflow_nodes (workspace_id, run_id, node, parent, step_key, title, notes, artifacts, snapshot,
                            is_complete, children, event_seq, created_ms)
VALUES (:workspace_id, :run_id, :node, :parent, :step_key, :title, :notes, :artifacts, :snapshot,
        :is_complete, 0, :event_seq, :created_ms)

-- name: take_first_way
-- Store the first child of a node, from which its answer can be computed again, and the exact tokens.
UPDATE workflow_nodes SET children = 1, next_edge = :edge, next_node = :child, next_state = :state, next_ack = :ack
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node

-- name: count_workflow_child
-- Count another branch of a node.
UPDATE workflow_nodes SET children = children + 1
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node

-- name: grow_workflow_run
-- Count another node of a run.
UPDATE workflow_runs SET nodes = nodes + 1, updated_ms = :now_ms
WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: store_workflow_snapshot
-- Store the count of blocked attempts of a node, its only change after a blocked advance.
UPDATE workflow_nodes SET snapshot = :snapshot
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node

-- name: find_workflow_changes [postgres, skipped on sqlite]
-- Find changes of a node between its look-up and the lock of its run; no row if there are none. A deleted node is a row
-- of nulls. On SQLite the single writer has the lock from the start.
SELECT n.node, n.snapshot, n.children, n.next_edge, n.next_node, n.next_state, n.next_ack, r.nodes
FROM (SELECT 1) AS looked
LEFT JOIN workflow_nodes n ON n.workspace_id = :workspace_id AND n.run_id = :run_id AND n.node = :node
LEFT JOIN workflow_runs r ON r.workspace_id = n.workspace_id AND r.run_id = n.run_id
WHERE n.node IS NULL OR r.nodes <> :nodes OR n.children <> :children OR n.snapshot <> :snapshot

-- name: find_workflow_answer
-- Find the stored answer to the same tokens and content.
SELECT child, answer, text FROM workflow_answers
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node AND edge = :edge

-- name: keep_workflow_answer
-- Store an answer that cannot be computed again from a node.
INSERT INTO workflow_answers (workspace_id, run_id, node, edge, child, answer, text, created_ms)
VALUES (:workspace_id, :run_id, :node, :edge, :child, :answer, :text, :created_ms)

-- name: list_workflow_ancestors
-- List the path from the start to a node, newest first, with the newest notes within a budget of characters; of older
-- notes only that they exist.
WITH RECURSIVE way AS (
  SELECT node, parent, step_key, title, notes FROM workflow_nodes
  WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node
  UNION ALL
  SELECT n.node, n.parent, n.step_key, n.title, n.notes
  FROM workflow_nodes n JOIN way w ON n.node = w.parent
  WHERE n.workspace_id = :workspace_id AND n.run_id = :run_id
),
counted AS (
  SELECT node, step_key, title, notes,
    coalesce(sum(length(notes)) OVER (ORDER BY node DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
  FROM way
)
SELECT node, step_key, title, CASE WHEN before <= :budget THEN notes ELSE '' END AS notes,
  CASE WHEN before > :budget AND trim(notes) <> '' THEN 1 ELSE 0 END AS left_out
FROM counted ORDER BY node DESC

-- name: list_workflow_nodes
-- List every node of a run, in order of creation.
SELECT node, parent, step_key, title, notes, artifacts, snapshot, is_complete, children, event_seq, created_ms,
       next_edge, next_node, next_state, next_ack
FROM workflow_nodes WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY node

-- name: find_workflow_tip
-- Find the leaf with the latest event in the log; checkpoints count, clocks do not.
SELECT n.node FROM workflow_nodes n
LEFT JOIN workflow_checkpoints c
  ON c.workspace_id = n.workspace_id AND c.run_id = n.run_id AND c.node = n.node
WHERE n.workspace_id = :workspace_id AND n.run_id = :run_id AND n.children = 0
GROUP BY n.node, n.event_seq
ORDER BY CASE WHEN coalesce(max(c.event_seq), 0) > n.event_seq THEN max(c.event_seq) ELSE n.event_seq END DESC,
         n.node DESC
LIMIT 1

-- name: insert_workflow_checkpoint
-- Insert notes on a node; equal notes are the same checkpoint.
INSERT INTO workflow_checkpoints (workspace_id, run_id, node, digest, notes, event_seq, created_ms)
VALUES (:workspace_id, :run_id, :node, :digest, :notes, :event_seq, :created_ms)
ON CONFLICT (workspace_id, run_id, node, digest) DO NOTHING
RETURNING node

-- name: find_workflow_checkpoint
-- Find whether a node has these notes.
SELECT event_seq FROM workflow_checkpoints
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node AND digest = :digest

-- name: list_workflow_checkpoints
-- The checkpoints of a run, in order.
SELECT node, digest, notes, event_seq, created_ms FROM workflow_checkpoints
WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY event_seq

-- name: find_workflow_confirmation
-- Find the latest action that asks for approval of this content.
SELECT action_id FROM workflow_confirmations
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node = :node AND content = :content
ORDER BY event_seq DESC LIMIT 1

-- name: set_workflow_confirmation
-- Store the action that asks for approval of this content; a new one replaces one that has ended.
INSERT INTO workflow_confirmations (workspace_id, run_id, node, content, step_key, action_id, event_seq)
VALUES (:workspace_id, :run_id, :node, :content, :step_key, :action_id, :event_seq)
ON CONFLICT (workspace_id, run_id, node, content, action_id) DO NOTHING

-- name: list_step_confirmations
-- List earlier confirmations of this step, on any branch of this run; but no plan (of another run) of the same node.
SELECT DISTINCT a.status FROM workflow_confirmations c
JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id
WHERE c.workspace_id = :workspace_id AND c.run_id = :run_id AND c.step_key = :step_key AND c.action_id <> :but
  AND (c.node <> :node OR a.run_id = c.run_id)
  AND (a.status <> 'awaiting_approval' OR a.expires_ms IS NULL OR a.expires_ms > :now_ms)

-- name: find_open_confirmation
-- Find the latest confirmation of this step of a node that can still pass it. The actions of a plan are of another run.
SELECT a.action_id, a.status FROM workflow_confirmations c
JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id AND a.run_id = c.run_id
WHERE c.workspace_id = :workspace_id AND c.run_id = :run_id AND c.node = :node
  AND a.status IN ('awaiting_approval', 'approved') AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
ORDER BY c.event_seq DESC LIMIT 1

-- name: lock_waiting_confirmations [sqlite]
-- List other waiting confirmations of a node.
SELECT a.action_id FROM workflow_confirmations c
JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id
WHERE c.workspace_id = :workspace_id AND c.run_id = :run_id AND c.node = :node AND c.action_id <> :but
  AND a.status = 'awaiting_approval' AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
ORDER BY c.event_seq

-- name: lock_waiting_confirmations [postgres]
-- As on SQLite, locked. Rows that a person's decision has locked are skipped, because that decision waits for the run.
SELECT a.action_id FROM workflow_confirmations c
JOIN actions a ON a.workspace_id = c.workspace_id AND a.action_id = c.action_id
WHERE c.workspace_id = :workspace_id AND c.run_id = :run_id AND c.node = :node AND c.action_id <> :but
  AND a.status = 'awaiting_approval' AND (a.expires_ms IS NULL OR a.expires_ms > :now_ms)
ORDER BY c.event_seq
FOR UPDATE OF a SKIP LOCKED

-- name: list_workflow_runs
-- List a workspace's runs, newest first; empty filters match all.
SELECT run_id, session_id, workflow_id, workflow_hash, name, nodes, series, created_ms, updated_ms FROM workflow_runs
WHERE workspace_id = :workspace_id
  AND (:session_id = '' OR session_id = :session_id) AND (:workflow_id = '' OR workflow_id = :workflow_id)
ORDER BY updated_ms DESC, run_id DESC LIMIT :most

-- name: search_workflow_runs [sqlite]
-- Of the newest runs, list those with some of the words, and how many. Empty filters match all, empty words none. The
-- pattern has both cases of a letter, because the C locale knows only those of ASCII.
WITH recent AS (
  SELECT workspace_id, run_id, session_id, workflow_id, workflow_hash, name, nodes, series, created_ms, updated_ms
  FROM workflow_runs
  WHERE workspace_id = :workspace_id
    AND (:session_id = '' OR session_id = :session_id) AND (:workflow_id = '' OR workflow_id = :workflow_id)
  ORDER BY updated_ms DESC, run_id DESC LIMIT :runs
),
told AS (
  SELECT run_id, session_id || ' ' || name || ' ' || workflow_id AS said FROM recent
  UNION ALL
  SELECT r.run_id, n.title || ' ' || substr(n.notes, 1, :chars) FROM recent r
  JOIN workflow_nodes n ON n.workspace_id = :workspace_id AND n.run_id = r.run_id AND n.node >= r.nodes - :newest
  UNION ALL
  SELECT r.run_id, substr(c.notes, 1, :chars) FROM recent r
  JOIN workflow_checkpoints c ON c.workspace_id = :workspace_id AND c.run_id = r.run_id
    AND c.node >= r.nodes - :newest
),
ranked AS (
  SELECT run_id,
    max(CASE WHEN :word_1 <> '' AND said REGEXP :word_1 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_2 <> '' AND said REGEXP :word_2 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_3 <> '' AND said REGEXP :word_3 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_4 <> '' AND said REGEXP :word_4 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_5 <> '' AND said REGEXP :word_5 THEN 1 ELSE 0 END)
    + max(CASE WHEN :word_6 <> '' AND said REGEXP :word_6 THEN 1 ELSE 0 END) AS words_found,
    max(CASE WHEN said REGEXP :whole THEN 1 ELSE 0 END) AS together
  FROM told WHERE said REGEXP :any_word GROUP BY run_id
)
SELECT r.run_id, r.session_id, r.workflow_id, r.workflow_hash, r.name, r.nodes, r.series, r.created_ms, r.updated_ms,
       f.words_found
FROM ranked f JOIN recent r ON r.run_id = f.run_id
ORDER BY f.words_found DESC, f.together DESC, r.updated_ms DESC, r.run_id DESC LIMIT :most

-- name: search_workflow_runs [postgres]
-- Of the newest runs, list those with some of the words, and how many. Empty filters match all, empty words none.
WITH recent AS (
  SELECT workspace_id, run_id, session_id, workflow_id, workflow_hash, name, nodes, series, created_ms, updated_ms
  FROM workflow_runs
  WHERE workspace_id = :workspace_id
    AND (:session_id = '' OR session_id = :session_id) AND (:workflow_id = '' OR workflow_id = :workflow_id)
  ORDER BY updated_ms DESC, run_id DESC LIMIT :runs
),
told AS (
  SELECT run_id, session_id || ' ' || name || ' ' || workflow_id AS said FROM recent
  UNION ALL
  SELECT r.run_id, n.title || ' ' || substr(n.notes, 1, :chars) FROM recent r
  JOIN workflow_nodes n ON n.workspace_id = :workspace_id AND n.run_id = r.run_id AND n.node >= r.nodes - :newest
  UNION ALL
  SELECT r.run_id, substr(c.notes, 1, :chars) FROM recent r
  JOIN workflow_checkpoints c ON c.workspace_id = :workspace_id AND c.run_id = r.run_id
    AND c.node >= r.nodes - :newest
),
ranked AS (
  SELECT run_id,
    max(CASE WHEN CAST(:word_1 AS TEXT) <> '' AND said ~ :word_1 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_2 AS TEXT) <> '' AND said ~ :word_2 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_3 AS TEXT) <> '' AND said ~ :word_3 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_4 AS TEXT) <> '' AND said ~ :word_4 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_5 AS TEXT) <> '' AND said ~ :word_5 THEN 1 ELSE 0 END)
    + max(CASE WHEN CAST(:word_6 AS TEXT) <> '' AND said ~ :word_6 THEN 1 ELSE 0 END) AS words_found,
    max(CASE WHEN said ~ :whole THEN 1 ELSE 0 END) AS together
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
-- List the runs of a workspace, or of all without one, in key order.
SELECT workspace_id, run_id, session_id, workflow_id, workflow_hash, name, created_ms, updated_ms FROM workflow_runs
WHERE (workspace_id, run_id) > (:after_workspace, :after_run) AND (:workspace_id = '' OR workspace_id = :workspace_id)
ORDER BY workspace_id, run_id LIMIT :most OFFSET :skip

-- name: find_workflow_session
-- Find whether a session of this name exists.
SELECT session_id, created_ms, updated_ms FROM workflow_sessions
WHERE workspace_id = :workspace_id AND session_id = :session_id

-- name: list_workflow_sessions
-- List a workspace's sessions, newest first, with their number of runs.
SELECT s.session_id, s.created_ms, s.updated_ms, count(r.run_id) AS runs FROM workflow_sessions s
LEFT JOIN workflow_runs r ON r.workspace_id = s.workspace_id AND r.session_id = s.session_id
WHERE s.workspace_id = :workspace_id GROUP BY s.session_id, s.created_ms, s.updated_ms
ORDER BY s.updated_ms DESC, s.session_id LIMIT :most

-- name: touch_workflow_run
-- Renew the time of a run after a note.
UPDATE workflow_runs SET updated_ms = :now_ms WHERE workspace_id = :workspace_id AND run_id = :run_id

-- name: list_stale_sessions
-- List sessions unused since a time and without a waiting confirmation, oldest first.
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
-- Delete the nodes of an expired session.
DELETE FROM workflow_nodes WHERE workspace_id = :workspace_id AND run_id IN (
  SELECT run_id FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id)

-- name: forget_session_answers
-- Delete the answers of an expired session.
DELETE FROM workflow_answers WHERE workspace_id = :workspace_id AND run_id IN (
  SELECT run_id FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id)

-- name: forget_session_checkpoints
-- Delete the checkpoints of an expired session.
DELETE FROM workflow_checkpoints WHERE workspace_id = :workspace_id AND run_id IN (
  SELECT run_id FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id)

-- name: forget_session_confirmations
-- Delete the confirmations of an expired session.
DELETE FROM workflow_confirmations WHERE workspace_id = :workspace_id AND run_id IN (
  SELECT run_id FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id)

-- name: forget_session_runs
-- Delete the runs of an expired session.
DELETE FROM workflow_runs WHERE workspace_id = :workspace_id AND session_id = :session_id

-- name: forget_session
-- Delete an expired session.
DELETE FROM workflow_sessions WHERE workspace_id = :workspace_id AND session_id = :session_id

-- name: forget_programs
-- Delete programs that no run is pinned to and that were not started lately.
DELETE FROM workflow_programs WHERE workspace_id = :workspace_id AND created_ms < :before_ms AND NOT EXISTS (
  SELECT 1 FROM workflow_runs r WHERE r.workspace_id = :workspace_id
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
-- Delete the notes of an expired session.
DELETE FROM workflow_session_notes WHERE workspace_id = :workspace_id AND session_id = :session_id

-- name: list_workflow_parents
-- List the tree of a run, or the newest part of a long one, without large columns.
SELECT node, parent FROM workflow_nodes
WHERE workspace_id = :workspace_id AND run_id = :run_id ORDER BY node DESC LIMIT :most

-- name: list_workflow_places [sqlite]
-- List a short description of some nodes; a snapshot only of a leaf, if it is small.
SELECT node, title, step_key, substr(notes, 1, 400) AS notes, is_complete,
       CASE WHEN children = 0 AND length(snapshot) <= 16384 THEN snapshot ELSE '' END AS snapshot
FROM workflow_nodes
WHERE workspace_id = :workspace_id AND run_id = :run_id AND node IN (SELECT value FROM json_each(:nodes))

-- name: list_workflow_places [postgres]
-- As on SQLite.
SELECT node, title, step_key, substr(notes, 1, 400) AS notes, is_complete,
       CASE WHEN children = 0 AND length(snapshot) <= 16384 THEN snapshot ELSE '' END AS snapshot
FROM workflow_nodes
WHERE workspace_id = :workspace_id AND run_id = :run_id
  AND node IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:nodes AS JSON)) AS value)
