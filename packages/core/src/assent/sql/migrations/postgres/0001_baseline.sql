-- The schema of the server. Column order is that of the stored rows; comments say what a name does not.

-- The head of every stream: the number and the chain hash of its last event. An append locks this row first.
CREATE TABLE streams (
  workspace_id TEXT NOT NULL,
  stream_id TEXT NOT NULL,
  seq BIGINT NOT NULL,
  hash TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, stream_id)
);

CREATE INDEX streams_by_update ON streams (updated_at);

-- Append-only. `hash` chains the event to the one before it; `body` is stored exactly as it was hashed.
CREATE TABLE events (
  workspace_id TEXT NOT NULL,
  stream_id TEXT NOT NULL,
  seq BIGINT NOT NULL,
  kind TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  body TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (workspace_id, stream_id, seq)
);

-- The journal of a workspace in the order of time.
CREATE INDEX events_by_time ON events (workspace_id, at_ms, stream_id, seq, kind);

-- What the operations page reads: the decisions of a workspace in the order of time.
CREATE INDEX events_decided ON events (workspace_id, at_ms) WHERE kind IN ('action_approve', 'action_reject');

-- One answer per key, scoped by workspace and tool (C12). `response` is compressed, and NULL from the moment an effect
-- is attempted until its answer is known.
CREATE TABLE idempotency (
  workspace_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  response BYTEA,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  -- The line of the API key that got the answer.
  holder         TEXT,
  PRIMARY KEY (workspace_id, tool, key)
);

CREATE INDEX idempotency_expiry ON idempotency (expires_at);

-- Who owns what: workspaces, their tenants and keys, links that deliver a first key, and facts of the deployment.
CREATE TABLE workspaces (
  workspace_id TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  email        TEXT,
  created_ms   BIGINT NOT NULL,
  -- The hosts that a workspace's results may be posted to, with spaces between them: NULL for any public one, empty for none.
  webhook_hosts TEXT,
  -- Calls that a workspace may make in a minute; nothing for as many as the settings of the server say.
  calls_per_minute BIGINT,
  signed_up        INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE tenants (
  workspace_id TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, tenant_id)
);

CREATE TABLE api_keys (
  workspace_id TEXT NOT NULL,
  key_id       TEXT NOT NULL,
  mode         TEXT NOT NULL CHECK (mode IN ('dev', 'live')),
  secret_hash  TEXT NOT NULL,
  label        TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  expires_ms   BIGINT,
  revoked_ms   BIGINT,
  -- The first key of the line that a rotated key continues; NULL for a key that succeeds none.
  first_key_id TEXT,
  -- Which groups of tools a key is shown; nothing for those of the server.
  toolsets     TEXT NOT NULL DEFAULT '',
  -- Whether the client of a key asks its person in a dialog of its own; 0 for clients that answer by themselves.
  client_dialog INTEGER NOT NULL DEFAULT 1,
  -- The person who uses a key, if that is known.
  person_id     TEXT,
  -- The host of the client that got the key by OAuth; NULL for a key that was made for pasting.
  client        TEXT,
  PRIMARY KEY (workspace_id, key_id)
);

-- What a client that got its key by OAuth may do next. Generation 0: it has a code. `salt` is set until the access token
-- of this generation was used: until then the refresh token before it gets the same answer again.
CREATE TABLE client_grants (
  workspace_id  TEXT NOT NULL,
  key_id        TEXT NOT NULL,
  client_hash   TEXT NOT NULL,
  jwks_uri      TEXT NOT NULL,
  redirect_hash TEXT NOT NULL,
  challenge     TEXT NOT NULL,
  asked         TEXT NOT NULL,
  scopes        TEXT NOT NULL,
  ends_ms       BIGINT NOT NULL,
  generation    INTEGER NOT NULL DEFAULT 0,
  refresh_hash  TEXT NOT NULL DEFAULT '',
  previous_hash TEXT NOT NULL DEFAULT '',
  salt          TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, key_id)
);

CREATE INDEX client_grants_by_end ON client_grants (ends_ms);

CREATE TABLE signup_links (
  workspace_id TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  email        TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  claimed_ms   BIGINT,
  -- The client address that a sign-up was asked from, the hash of the link that was mailed to its e-mail address, and what
  -- an owner of the server decided about it: nothing, admitted or rejected. Whether a workspace came from a sign-up.
  asked_from   TEXT NOT NULL DEFAULT '',
  mail_hash    TEXT,
  decision     TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id)
);

CREATE INDEX signup_links_by_expiry ON signup_links (expires_ms);

CREATE TABLE deployment_facts (
  workspace_id TEXT NOT NULL,
  name         TEXT NOT NULL,
  value        TEXT NOT NULL,
  PRIMARY KEY (workspace_id, name)
);

-- Calls of a workspace (or signups of an address) by second, so that limits hold across every replica.
-- The embedded store keeps these counts in memory: it has one serving process.
CREATE TABLE rate_windows (
  workspace_id TEXT NOT NULL,
  bucket       TEXT NOT NULL,
  slots        JSONB NOT NULL,
  PRIMARY KEY (workspace_id, bucket)
);

-- `ready_ms` is the one moment at which a runner has to look at a job again: when it is due, or when the lease of the
-- worker that runs it ends. A finished job has none.
CREATE TABLE jobs (
  workspace_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  payload TEXT NOT NULL,
  due_ms BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'dead')),
  attempts BIGINT NOT NULL,
  lease_until_ms BIGINT,
  fence BIGINT NOT NULL,
  worker TEXT,
  last_error TEXT,
  created_ms BIGINT NOT NULL,
  finished_ms BIGINT,
  ready_ms BIGINT GENERATED ALWAYS AS (
        CASE state WHEN 'waiting' THEN due_ms WHEN 'running' THEN lease_until_ms END
    ) STORED,
  -- Claims of a job whose worker died. They are among `attempts`, and use up no retry.
  lost           BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, job_id),
  UNIQUE (workspace_id, kind, key)
);

-- What is due, without the finished ones; jobs due tomorrow are behind it and cost nothing.
CREATE INDEX jobs_by_readiness ON jobs (ready_ms) WHERE ready_ms IS NOT NULL;

-- What retention removes and what waits for a human.
CREATE INDEX jobs_by_end ON jobs (state, finished_ms) WHERE finished_ms IS NOT NULL;

-- Jobs that are not yet ready and may have been placed by a clock that was wrong: all but measurements that wait for
-- their day.
CREATE INDEX jobs_ahead ON jobs (ready_ms)
WHERE ready_ms IS NOT NULL AND (state = 'running' OR attempts > 0 OR kind <> 'measure_run');

-- The execution contract: runs, what they produced, and the effects they staged.
CREATE TABLE runs (
  workspace_id  TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  tenant_id     TEXT,
  operator      TEXT NOT NULL,
  tool          TEXT NOT NULL,
  inputs        TEXT NOT NULL,
  outputs       TEXT NOT NULL,
  status        TEXT NOT NULL,
  parent_run_id TEXT,
  created_ms    BIGINT NOT NULL,
  links_from_ms BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id)
);

-- A signed-in person opens a run by its id alone, whichever workspace it is in.
CREATE INDEX runs_by_id ON runs (run_id);

CREATE TABLE assets (
  workspace_id TEXT NOT NULL,
  asset_id     TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  tenant_id    TEXT,
  type         TEXT NOT NULL,
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  channel      TEXT,
  metadata     TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, asset_id)
);

CREATE INDEX assets_by_run ON assets (workspace_id, run_id, asset_id);

CREATE TABLE actions (
  workspace_id    TEXT NOT NULL,
  action_id       TEXT NOT NULL,
  run_id          TEXT NOT NULL,
  tenant_id       TEXT,
  asset_id        TEXT,
  position        BIGINT NOT NULL,
  version         BIGINT NOT NULL,
  effect          TEXT NOT NULL,
  digest          TEXT NOT NULL,
  revision        BIGINT NOT NULL,
  executor_tool   TEXT NOT NULL,
  status          TEXT NOT NULL
    CHECK (status IN ('awaiting_approval', 'approved', 'rejected', 'executed', 'failed')),
  execution_state TEXT NOT NULL
    CHECK (execution_state IN ('none', 'executing', 'outcome_unknown', 'retryable', 'done')),
  preflight       TEXT NOT NULL,
  created_ms      BIGINT NOT NULL,
  expires_ms      BIGINT,
  schedule_ms     BIGINT,
  approval        TEXT,
  rejection       TEXT,
  attempt         TEXT,
  executed_ms     BIGINT,
  external_id     TEXT,
  external_url    TEXT,
  metadata        TEXT NOT NULL,
  -- The severity as a number to order by; 0 is the most severe.
  risk            BIGINT NOT NULL DEFAULT 1,
  -- How people see the revision, as data.
  view            TEXT NOT NULL DEFAULT '',
  -- Who proposed an action, and whether it is held: 1 in one question for people about everything that a key proposed too
  -- fast, 2 while its agent is to change it. The indexes of what waits cover it, because the inbox leaves both out.
  proposed_by     TEXT NOT NULL DEFAULT '',
  held            INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, action_id)
);

CREATE INDEX actions_by_run ON actions (workspace_id, run_id, position);

-- What waits, was sent and was done for one of thousands of tenants.
CREATE INDEX actions_by_tenant ON actions (workspace_id, tenant_id, status, action_id);

-- Only what waits for a human: stays small however many actions have ended.
CREATE INDEX actions_waiting ON actions (workspace_id, action_id)
  WHERE status = 'awaiting_approval' OR execution_state = 'outcome_unknown';

-- What was done lately.
CREATE INDEX actions_by_execution ON actions (executed_ms, action_id, workspace_id) WHERE executed_ms IS NOT NULL;

-- A signed-in person opens an action by its id alone.
CREATE INDEX actions_by_id ON actions (action_id);

-- What a status report reads by: each index holds one section of it, so that a report costs the same however much
-- history there is. What confirms a step of a workflow is sent by nobody and is in none of them.
CREATE INDEX actions_unsent ON actions (workspace_id, action_id)
  WHERE status = 'approved' AND executor_tool <> 'workflow_advance';

CREATE INDEX actions_failed ON actions (workspace_id, action_id) WHERE status = 'failed';

CREATE INDEX actions_sent ON actions (workspace_id, executed_ms, action_id)
  WHERE executed_ms IS NOT NULL AND executor_tool <> 'workflow_advance';

CREATE INDEX actions_by_state ON actions (workspace_id, run_id, status, execution_state, expires_ms);

-- What was approved and did not go out, wherever it is: for the inbox of a person who sees several workspaces.
CREATE INDEX actions_unsent_anywhere ON actions (action_id, workspace_id)
  WHERE status = 'approved' AND executor_tool <> 'workflow_advance';

CREATE INDEX actions_failed_anywhere ON actions (created_ms, action_id, workspace_id) WHERE status = 'failed';

CREATE INDEX actions_waiting_anywhere
  ON actions (action_id, status, execution_state, expires_ms, workspace_id, revision, held)
  WHERE status = 'awaiting_approval' OR execution_state = 'outcome_unknown';

CREATE INDEX actions_by_risk ON actions (risk, expires_ms, action_id, workspace_id, status, revision, held, tenant_id)
  WHERE status = 'awaiting_approval';

CREATE INDEX actions_by_proposer ON actions (workspace_id, proposed_by, created_ms)
  WHERE status = 'awaiting_approval' AND proposed_by <> '';

CREATE INDEX actions_held ON actions (workspace_id, proposed_by, action_id, created_ms, expires_ms, held, status)
  WHERE held = 1 AND status = 'awaiting_approval';

CREATE INDEX actions_with_agent ON actions (action_id, workspace_id) WHERE held = 2 AND status = 'awaiting_approval';

-- What has an unknown outcome: found without reading all that waits.
CREATE INDEX actions_unknown ON actions (workspace_id, action_id) WHERE execution_state = 'outcome_unknown';

-- Who has approved a revision so far, where a policy asks for more than one person.
CREATE TABLE action_approvals (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     BIGINT NOT NULL,
  approver     TEXT NOT NULL,
  assurance    TEXT NOT NULL,
  at_ms        BIGINT NOT NULL,
  -- Approvers are told apart by who they are; the name is what they were called when they said yes.
  name         TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, action_id, revision, approver)
);

CREATE TABLE workspace_policies (
  workspace_id TEXT PRIMARY KEY,
  policy       TEXT NOT NULL
);

-- People who sign in to this server: who they are, the links they sign in by and the sessions of their browsers.
-- They belong to the server and not to a workspace, so their rows carry the id that stands for it.
CREATE TABLE people (
  workspace_id TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  role         TEXT NOT NULL DEFAULT 'owner' CHECK (role IN ('owner', 'member')),
  email        TEXT,
  ended_ms     BIGINT,
  -- Whether an owner of this server or an issuer vouches for a person's e-mail address. A signup may name any address.
  email_vouched INTEGER NOT NULL DEFAULT 0,
  -- The time zone in which a person reads times; empty before they have one.
  zone          TEXT NOT NULL DEFAULT '',
  -- Who gave the name: a file of people, the issuer that identifies them, or (empty) they themselves.
  named_by      TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, person_id)
);

-- A person who asks for a link by mail gives an address and nothing else.
CREATE INDEX people_by_email ON people (workspace_id, lower(email));

CREATE TABLE sign_in_links (
  workspace_id TEXT NOT NULL,
  link_id      TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  used_ms      BIGINT,
  PRIMARY KEY (workspace_id, link_id)
);

CREATE INDEX sign_in_links_by_expiry ON sign_in_links (expires_ms);

CREATE TABLE sessions (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  ended_ms     BIGINT,
  device       TEXT NOT NULL DEFAULT '',
  -- How sure the server is who a signed-in browser belongs to. Whoever claims a sign-up gets in by an address that the
  -- agent holds too; a link from a terminal, an invitation or a mail makes a person.
  assurance    TEXT NOT NULL DEFAULT 'person',
  -- The public key that a browser made when it signed in. Its private part never leaves that browser and origin.
  public_key   TEXT,
  PRIMARY KEY (workspace_id, session_id)
);

CREATE INDEX sessions_by_expiry ON sessions (expires_ms);

CREATE INDEX sessions_by_person ON sessions (workspace_id, person_id, created_ms);

-- Signed checkpoints over the heads of all streams, so that a rewritten journal is found out.
CREATE TABLE checkpoints (
  workspace_id TEXT NOT NULL,
  number       BIGINT NOT NULL,
  at_ms        BIGINT NOT NULL,
  body         TEXT NOT NULL,
  signature    TEXT NOT NULL,
  public_key   TEXT NOT NULL,
  PRIMARY KEY (workspace_id, number)
);

-- Workflows: pinned programs, sessions, runs, and the tree of nodes that each run has become.
CREATE TABLE workflow_programs (
  workspace_id  TEXT NOT NULL,
  workflow_hash TEXT NOT NULL,
  workflow_id   TEXT NOT NULL,
  program       TEXT NOT NULL,
  created_ms    BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, workflow_hash)
);

CREATE TABLE workflow_sessions (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  updated_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, session_id)
);

CREATE INDEX workflow_sessions_by_age ON workflow_sessions (updated_ms);

CREATE TABLE workflow_runs (
  workspace_id  TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  session_id    TEXT NOT NULL,
  workflow_id   TEXT NOT NULL,
  workflow_hash TEXT NOT NULL,
  name          TEXT NOT NULL,
  nodes         BIGINT NOT NULL,
  created_ms    BIGINT NOT NULL,
  updated_ms    BIGINT NOT NULL,
  -- Which series of tokens a run is known by. A run that came in from a bundle keeps its id and gets a series of its own, so
  -- that no token of where it came from is a token of it, also where both have the same key.
  series        BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, run_id)
);

CREATE INDEX workflow_runs_by_session ON workflow_runs (workspace_id, session_id, run_id);

-- `parent` is the node whose pending step was completed to get here, with what was sent for it.
CREATE TABLE workflow_nodes (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         BIGINT NOT NULL,
  parent       BIGINT,
  step_key     TEXT NOT NULL,
  title        TEXT NOT NULL,
  notes        TEXT NOT NULL,
  artifacts    TEXT NOT NULL,
  snapshot     TEXT NOT NULL,
  is_complete  BIGINT NOT NULL,
  children     BIGINT NOT NULL,
  event_seq    BIGINT NOT NULL,
  created_ms   BIGINT NOT NULL,
  -- The first way on from a node: what led to which child, and the tokens that were given there. The rest of that answer
  -- is made from the child again instead of being stored beside it.
  next_edge    TEXT,
  next_node    BIGINT,
  next_state   TEXT,
  next_ack     TEXT,
  PRIMARY KEY (workspace_id, run_id, node)
);

-- Every answer that was given to an advance: the same tokens and content find it again.
CREATE TABLE workflow_answers (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         BIGINT NOT NULL,
  edge         TEXT NOT NULL,
  child        BIGINT,
  answer       TEXT NOT NULL,
  text         TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, edge)
);

CREATE TABLE workflow_checkpoints (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         BIGINT NOT NULL,
  digest       TEXT NOT NULL,
  notes        TEXT NOT NULL,
  event_seq    BIGINT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, digest)
);

-- Which action a human was asked about for which content of which step.
CREATE TABLE workflow_confirmations (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         BIGINT NOT NULL,
  content      TEXT NOT NULL,
  step_key     TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  event_seq    BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, content, action_id)
);

-- Notes of people on a session as a whole.
CREATE TABLE workflow_session_notes (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  note_id      TEXT NOT NULL,
  author       TEXT NOT NULL,
  notes        TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, session_id, note_id)
);

-- Which workspaces a member may look at and decide in; an owner needs no row.
CREATE TABLE memberships (
  workspace_id TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, person_id)
);

CREATE INDEX memberships_by_person ON memberships (person_id, workspace_id);

-- What an action said before it was edited, so that a reader can see what changed.
CREATE TABLE action_revisions (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     BIGINT NOT NULL,
  effect       TEXT NOT NULL,
  view         TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, action_id, revision)
);

-- Where a workspace's people are told that something needs them. The address is in the vault; this is what is shown.
CREATE TABLE notification_targets (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  kind         TEXT NOT NULL,
  shown        TEXT NOT NULL,
  created_ms   BIGINT NOT NULL,
  told_ms      BIGINT,
  problem      TEXT,
  -- Notification targets of a person are stored with the server's workspace; those of a workspace have no person. Each has
  -- its choices: causes and risks (as digits of actions.risk), whether it arrives without a sound, when it reminds.
  person_id    TEXT NOT NULL DEFAULT '',
  causes       TEXT NOT NULL DEFAULT 'waiting decided problems reminders',
  risks        TEXT NOT NULL DEFAULT '012',
  quiet        BIGINT NOT NULL DEFAULT 0,
  remind_ms    BIGINT NOT NULL DEFAULT 86400000,
  PRIMARY KEY (workspace_id, target_id)
);

-- The key that seals a workspace's secrets, itself sealed by the master secret that `sealed_by` names.
CREATE TABLE vault_keys (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  sealed_by    TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  made_ms      BIGINT NOT NULL
);

-- One secret each: whose it is (a provider), which field, and the sealed bytes.
CREATE TABLE vault_secrets (
  workspace_id TEXT NOT NULL,
  holder       TEXT NOT NULL,
  field        TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  changed_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, holder, field)
);

-- One connection per provider; a connection that has ended stays as a row without secrets.
CREATE TABLE connections (
  workspace_id TEXT NOT NULL,
  provider     TEXT NOT NULL,
  state        TEXT NOT NULL,
  label        TEXT NOT NULL,
  accounts     TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  settings     TEXT NOT NULL,
  expires_ms   BIGINT,
  connected_by TEXT NOT NULL,
  connected_ms BIGINT NOT NULL,
  changed_ms   BIGINT NOT NULL,
  problem      TEXT,
  version      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, provider)
);

-- A result on its way. `delivery_id` is the webhook-id, the same in every try; `body` is what is signed, byte for byte.
CREATE TABLE webhook_deliveries (
  workspace_id TEXT NOT NULL,
  delivery_id  TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  type         TEXT NOT NULL,
  url          TEXT NOT NULL,
  body         TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  tries        BIGINT NOT NULL,
  resends      BIGINT NOT NULL,
  next_try_ms  BIGINT,
  created_ms   BIGINT NOT NULL,
  ended_ms     BIGINT,
  -- A delivery of an event names its subscription and action; that of a test has no action, that of a result neither.
  subscription_id TEXT NOT NULL DEFAULT '',
  action_id       TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, delivery_id)
);

-- What retention removes.
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_ms);

-- The log of a subscription, and its queue.
CREATE INDEX webhook_deliveries_by_subscription ON webhook_deliveries (workspace_id, subscription_id, delivery_id)
WHERE subscription_id <> '';

CREATE INDEX webhook_deliveries_queued ON webhook_deliveries (workspace_id, subscription_id)
WHERE state = 'waiting' AND subscription_id <> '';

-- The log: one line a try.
CREATE TABLE webhook_tries (
  workspace_id TEXT NOT NULL,
  delivery_id  TEXT NOT NULL,
  number       BIGINT NOT NULL,
  at_ms        BIGINT NOT NULL,
  duration_ms  BIGINT NOT NULL,
  outcome      TEXT NOT NULL,
  status       BIGINT,
  detail       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, delivery_id, number)
);

-- Pictures by what they are: the same bytes are kept once in a workspace.
CREATE TABLE pictures (
  workspace_id TEXT NOT NULL,
  digest       TEXT NOT NULL,
  content_type TEXT NOT NULL,
  width        BIGINT NOT NULL,
  height       BIGINT NOT NULL,
  size         BIGINT NOT NULL,
  content      BYTEA NOT NULL,
  created_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, digest)
);

CREATE INDEX pictures_by_age ON pictures (created_ms);

-- Where a picture may be seen: a run made it, or an action of the run takes it along.
CREATE TABLE picture_uses (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  digest       TEXT NOT NULL,
  kept         BIGINT NOT NULL CHECK (kept IN (0, 1)),
  PRIMARY KEY (workspace_id, run_id, digest)
);

CREATE INDEX picture_uses_by_picture ON picture_uses (workspace_id, digest, kept);

-- A consent that was asked for. Known by a hash of its state; it ends with the session of the browser that asked.
CREATE TABLE oauth_states (
  workspace_id  TEXT NOT NULL,
  state_hash    TEXT NOT NULL,
  for_workspace TEXT NOT NULL,
  provider      TEXT NOT NULL,
  session_id    TEXT NOT NULL,
  person_id     TEXT NOT NULL,
  created_ms    BIGINT NOT NULL,
  expires_ms    BIGINT NOT NULL,
  used_ms       BIGINT,
  PRIMARY KEY (workspace_id, state_hash)
);

CREATE INDEX oauth_states_by_end ON oauth_states (workspace_id, expires_ms);

-- Which process renews a connection's tokens now, and until when it is believed to be at it.
CREATE TABLE oauth_turns (
  workspace_id TEXT NOT NULL,
  provider     TEXT NOT NULL,
  holder       TEXT NOT NULL,
  until_ms     BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, provider)
);

-- How much a workspace has stored on a day (UTC, counted from the epoch).
CREATE TABLE stored_bytes (
  workspace_id TEXT NOT NULL,
  day          BIGINT NOT NULL,
  bytes        BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, day)
);

-- Who gets mail by what waits, is approved or was sent within a day: people are counted over all actions of a workspace, not
-- only within one. Rows that are older go as new ones come, so that the table does not grow with history.
CREATE TABLE action_recipients (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  address      TEXT NOT NULL,
  at_ms        BIGINT NOT NULL,
  expires_ms   BIGINT,
  PRIMARY KEY (workspace_id, action_id, address)
);

CREATE INDEX action_recipients_by_time ON action_recipients (workspace_id, at_ms, address);

-- One row for each applied migration. A component that was removed keeps its rows and tables.
CREATE TABLE component_versions (
  component  TEXT NOT NULL,
  version    BIGINT NOT NULL,
  name       TEXT NOT NULL,
  prefix     TEXT NOT NULL,
  applied_at BIGINT NOT NULL,
  digest     TEXT NOT NULL,
  PRIMARY KEY (component, version)
);

-- Nonces of confirmed forms. Each works once.
CREATE TABLE used_nonces (
  workspace_id TEXT NOT NULL,
  nonce_hash   TEXT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, nonce_hash)
);

CREATE INDEX used_nonces_by_end ON used_nonces (expires_ms);

-- The passkeys of people who sign in.
CREATE TABLE passkeys (
  workspace_id  TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  person_id     TEXT NOT NULL,
  public_key    TEXT NOT NULL,
  sign_count    BIGINT NOT NULL,
  label         TEXT NOT NULL,
  created_ms    BIGINT NOT NULL,
  used_ms       BIGINT,
  PRIMARY KEY (workspace_id, credential_id)
);

CREATE INDEX passkeys_by_person ON passkeys (workspace_id, person_id);

-- People by the issuer that identifies them (OpenID Connect). `follows_claims`: the issuer decides their role.
CREATE TABLE identities (
  workspace_id   TEXT NOT NULL,
  issuer         TEXT NOT NULL,
  subject        TEXT NOT NULL,
  person_id      TEXT NOT NULL,
  follows_claims INTEGER NOT NULL,
  linked_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, issuer, subject)
);

CREATE INDEX identities_by_person ON identities (workspace_id, person_id);

-- Sign-ins with an issuer that came back, so that none comes back twice.
CREATE TABLE used_sign_in_states (
  workspace_id TEXT NOT NULL,
  state_hash   TEXT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, state_hash)
);

CREATE INDEX used_sign_in_states_by_end ON used_sign_in_states (workspace_id, expires_ms);

-- The last message about a run at a target, so that a decision can replace or follow it.
CREATE TABLE notification_messages (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  message      TEXT NOT NULL,
  sent_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, target_id, run_id)
);

CREATE INDEX notification_messages_by_time ON notification_messages (sent_ms);

-- The reminders that were sent, once per target, action and kind.
CREATE TABLE notification_reminders (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  kind         TEXT NOT NULL,
  told_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, action_id, target_id, kind)
);

-- The versions of each workspace's policy, as their authors wrote them.
CREATE TABLE policy_versions (
  workspace_id TEXT NOT NULL,
  version      BIGINT NOT NULL,
  digest       TEXT NOT NULL,
  source       TEXT NOT NULL,
  set_by       TEXT NOT NULL,
  at_ms        BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, version)
);

-- Addresses that a workspace subscribed to events of its actions. `events` are their names with spaces between them.
-- `failing_since_ms` is the first failed try since the last delivery.
CREATE TABLE webhook_subscriptions (
  workspace_id     TEXT NOT NULL,
  subscription_id  TEXT NOT NULL,
  url              TEXT NOT NULL,
  events           TEXT NOT NULL,
  enabled          BIGINT NOT NULL,
  created_by       TEXT NOT NULL,
  created_ms       BIGINT NOT NULL,
  delivered_ms     BIGINT,
  failing_since_ms BIGINT,
  PRIMARY KEY (workspace_id, subscription_id)
);

-- How a workspace looks on its public pages.
CREATE TABLE workspace_brands (
  workspace_id TEXT PRIMARY KEY,
  accent       TEXT NOT NULL,
  logo_digest  TEXT NOT NULL
);

-- Logos: the one in use, and one that waits for its confirmation. Each was read and written again before it came here.
CREATE TABLE brand_logos (
  workspace_id TEXT NOT NULL,
  logo_digest  TEXT NOT NULL,
  media_type   TEXT NOT NULL,
  content      BYTEA NOT NULL,
  PRIMARY KEY (workspace_id, logo_digest)
);

-- When each caller of a workspace was last here, within a few minutes.
CREATE TABLE callers_seen (
  workspace_id TEXT NOT NULL,
  caller       TEXT NOT NULL,
  seen_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, caller)
);

-- Where nothing is sent: a workspace, every one under the id of the deployment, or what one agent of a workspace proposes
-- and executes. `label` is the agent's name.
CREATE TABLE freezes (
  workspace_id TEXT NOT NULL,
  agent        TEXT NOT NULL DEFAULT '',
  label        TEXT NOT NULL DEFAULT '',
  since_ms     BIGINT  NOT NULL,
  set_by       TEXT NOT NULL,
  why          TEXT NOT NULL,
  PRIMARY KEY (workspace_id, agent)
);

-- The words by which people find runs and actions: `about` of the run and its agent, `body` of the content. Punctuation
-- parts words and letters have no accents, as in SQLite's index.
CREATE TABLE search_texts (
  workspace_id TEXT NOT NULL,
  item_id      TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  about        TEXT NOT NULL,
  body         TEXT NOT NULL,
  words        TSVECTOR GENERATED ALWAYS AS (to_tsvector('simple', translate(about || ' ' || body,
    '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöùúûüýÿĀāĂăĄąĆćĈĉĊċČčĎďĒēĔĕĖėĘęĚěĜĝĞğĠġĢģĤĥĨĩĪīĬĭĮįİĲĳĴĵĶķĹĺĻļĽľĿŀŃńŅņŇňŌōŎŏŐőŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŲųŴŵŶŷŸŹźŻżŽž',
    '                                AAAAAACEEEEIIIINOOOOOUUUUYaaaaaaceeeeiiiinooooouuuuyyAaAaAaCcCcCcCcDdEeEeEeEeEeGgGgGgGgHhIiIiIiIiIIiJjKkLlLlLlLlNnNnNnOoOoOoRrRrRrSsSsSsSsTtTtUuUuUuUuUuUuWwYyYZzZzZz'
  ))) STORED,
  PRIMARY KEY (workspace_id, item_id)
);

CREATE INDEX search_texts_by_run ON search_texts (workspace_id, run_id);

CREATE INDEX search_texts_by_words ON search_texts USING gin (words);
