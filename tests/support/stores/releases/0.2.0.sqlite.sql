PRAGMA application_id = 0;
PRAGMA user_version = 0;
CREATE TABLE schema_versions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL, digest TEXT NOT NULL) STRICT;
INSERT INTO schema_versions (version, name, applied_at, digest) VALUES (1, 'baseline', 1795035366526, 'b9db2796340609c247bc4882aadbdbb7f40dad7c311343767a609edffb9a65cd');
CREATE TABLE streams (
  workspace_id TEXT NOT NULL,
  stream_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, stream_id)
) STRICT, WITHOUT ROWID;
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at) VALUES ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000001', 2, '4e0e1d95c3b7989d377ff7a6f4f6c93e75a5b18a5c05a6fb7df2f9407fe04bee', 1795035366689);
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-756d-91f1-7b77985f4cc0', 5, '93ea91b68d7297c0c32a202b52405ec071ef0b34c45ca4413c9dd48b2731e9cc', 1795035377220);
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3308-74d9-8d67-40ed86c8d52c', 2, '0a21c7564a133f20c06dff84b81b6a7141482e43bd24ed9e96b43579ed3edf7d', 1795035378440);
INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3343-70ce-9129-86a290c46a53', 1, '2fe8e8893bbe7f6cd3f06e213ce43a975c1a12c61773c1dd234d01a0613e02b3', 1795035378499);
CREATE INDEX streams_by_update ON streams (updated_at);
CREATE TABLE events (
  workspace_id TEXT NOT NULL,
  stream_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  body TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (workspace_id, stream_id, seq)
) STRICT;
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000001', 1, 'workspace_created', 1795035366689, '{"by":"first start","name":"local"}', '654ab6e684751aa8834574f0b04fa36ad10cdd4d5aca3e7652bf762da792f0bf');
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000001', 2, 'key_issued', 1795035373782, '{"by":"cli","keyId":"4b66910916171a5e","label":"release","mode":"live","scopes":["runs:write","actions:decide","actions:execute"]}', '4e0e1d95c3b7989d377ff7a6f4f6c93e75a5b18a5c05a6fb7df2f9407fe04bee');
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-756d-91f1-7b77985f4cc0', 1, 'run_prepared', 1795035377220, '{"actions":[{"actionId":"01a1f072-2e44-7b47-a19d-a5cbf9058ee2","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","severity":"low","type":"site_publish","view":"sha256:07696bb11c3ce031a8f6f37f6a7ed38f1249751a1481b36b513ca99b81861523"}],"assets":["01a1f072-2e44-7e82-ab73-402108efef24"],"by":"key:4b66910916171a5e","operator":"chieflab-post","tool":"chieflab_post"}', '72a91e459ab7560a2cccea258e4cc9f3ee2f9cb59d6feef1f506f0ce20aea2f5');
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-756d-91f1-7b77985f4cc0', 2, 'action_approve', 1795035377275, '{"actionId":"01a1f072-2e44-7b47-a19d-a5cbf9058ee2","approvers":1,"assurance":"agent","by":"key:4b66910916171a5e","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","needed":1,"policy":"sha256:97c6f752e048eb23abb08e61dfa10c30d2e5a87fc73058ccf4b639363eaa9971","revision":1,"severity":"low","status":"approved","via":"chat"}', '36c24741c8917dc7ffdc3b98dad587209a853da5f58d688877228aa397cfb551');
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-756d-91f1-7b77985f4cc0', 3, 'action_claim', 1795035377302, '{"actionId":"01a1f072-2e44-7b47-a19d-a5cbf9058ee2","attemptId":"01a1f072-2e96-7cbb-ae45-68b8aecb5d1b","by":"key:4b66910916171a5e","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","fence":1,"leaseUntil":"2026-11-18T20:57:17.302Z","providerKey":"01a1f072-2e44-7b47-a19d-a5cbf9058ee2:1","revision":1,"status":"approved"}', '62036c9e0cdc0662ece2acbb7d5b97e98fb653b7e07dd1f5693e484f664c8990');
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-756d-91f1-7b77985f4cc0', 4, 'action_succeed', 1795035377324, '{"actionId":"01a1f072-2e44-7b47-a19d-a5cbf9058ee2","attemptId":"01a1f072-2e96-7cbb-ae45-68b8aecb5d1b","detail":"","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","evidence":{"publishedAt":"2026-11-18T20:56:17.313Z"},"externalId":"tides-e5012f30b754","externalUrl":"http://127.0.0.1:36139/feed/00000000-0000-7000-8000-000000000001/tides-e5012f30b754","outcome":"delivered","revision":1,"status":"executed"}', 'e8a70aa5c0c157fd979293978bb2da41695105a76b78258c7a4a1d0e641504c3');
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-756d-91f1-7b77985f4cc0', 5, 'run_measured', 1795035378327, '{"assetId":"01a1f072-3297-7acc-b74a-7f6bcab89f6c","by":"schedule","totals":{"clicks":0.0,"views":0.0}}', '93ea91b68d7297c0c32a202b52405ec071ef0b34c45ca4413c9dd48b2731e9cc');
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3308-74d9-8d67-40ed86c8d52c', 1, 'run_prepared', 1795035378440, '{"actions":[{"actionId":"01a1f072-3308-7cb7-8b5f-883936f8b5d5","digest":"sha256:c6e2146ef0318aaf0b2c25809041b45abf1745465e4adc45f1f488b42ee7704a","severity":"low","type":"site_publish","view":"sha256:51df68cee11429e94a9b04b8708db688102c393d496414cbdcc9dbf76820cd9b"}],"assets":["01a1f072-3308-753a-bfa4-b26e6f8b8678"],"by":"key:4b66910916171a5e","operator":"chieflab-post","tool":"chieflab_post"}', 'cd00df47c675c3af12a4e0cbe2b9e3fd5589e9528a4fbc7c7c477684fc47ffb0');
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3308-74d9-8d67-40ed86c8d52c', 2, 'action_reject', 1795035378476, '{"actionId":"01a1f072-3308-7cb7-8b5f-883936f8b5d5","assurance":"agent","by":"key:4b66910916171a5e","digest":"sha256:c6e2146ef0318aaf0b2c25809041b45abf1745465e4adc45f1f488b42ee7704a","policy":"sha256:97c6f752e048eb23abb08e61dfa10c30d2e5a87fc73058ccf4b639363eaa9971","reason":"Too short, say where.","revision":1,"status":"rejected","via":"chat"}', '0a21c7564a133f20c06dff84b81b6a7141482e43bd24ed9e96b43579ed3edf7d');
INSERT INTO events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3343-70ce-9129-86a290c46a53', 1, 'run_prepared', 1795035378499, '{"actions":[{"actionId":"01a1f072-3343-776b-b296-0795f07291c3","digest":"sha256:0d9a75c5aa882baecd83a21978ac9c124f543cde74006f66cc3f832ae787a669","severity":"low","type":"site_publish","view":"sha256:1982b54b8df2a5d12e6059b7d3cab24b6ae2aa72019dab7c53e0d1d9d679e8ae"}],"assets":["01a1f072-3343-7186-b58e-047febd2de4c"],"by":"key:4b66910916171a5e","operator":"chieflab-post","tool":"chieflab_post"}', '2fe8e8893bbe7f6cd3f06e213ce43a975c1a12c61773c1dd234d01a0613e02b3');
CREATE INDEX events_by_time ON events (workspace_id, at_ms, stream_id, seq, kind);
CREATE INDEX events_decided ON events (workspace_id, at_ms) WHERE kind IN ('action_approve', 'action_reject');
CREATE TABLE idempotency (
  workspace_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  response BLOB,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- The line of the API key that got the answer.
  holder         TEXT,
  PRIMARY KEY (workspace_id, tool, key)
) STRICT;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
CREATE TABLE workspaces (
  workspace_id TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  email        TEXT,
  created_ms   INTEGER NOT NULL,
  -- The hosts that a workspace's results may be posted to, with spaces between them: NULL for any public one, empty for none.
  webhook_hosts TEXT,
  -- Calls that a workspace may make in a minute; nothing for as many as the settings of the server say.
  calls_per_minute INTEGER,
  signed_up        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO workspaces (workspace_id, name, email, created_ms, webhook_hosts, calls_per_minute, signed_up) VALUES ('00000000-0000-7000-8000-000000000001', 'local', NULL, 1795035366689, NULL, NULL, 0);
CREATE TABLE tenants (
  workspace_id TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, tenant_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE api_keys (
  workspace_id TEXT NOT NULL,
  key_id       TEXT NOT NULL,
  mode         TEXT NOT NULL CHECK (mode IN ('dev', 'live')),
  secret_hash  TEXT NOT NULL,
  label        TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER,
  revoked_ms   INTEGER,
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
) STRICT, WITHOUT ROWID;
INSERT INTO api_keys (workspace_id, key_id, mode, secret_hash, label, scopes, created_ms, expires_ms, revoked_ms, first_key_id, toolsets, client_dialog, person_id, client) VALUES ('00000000-0000-7000-8000-000000000001', '4b66910916171a5e', 'live', '9f64844bdc44f48b2a8e683d35892135b7c268797e3a418a06364f5aa05b81d9', 'release', 'runs:write actions:decide actions:execute', 1795035373782, NULL, NULL, NULL, '', 1, NULL, NULL);
CREATE TABLE client_grants (
  workspace_id  TEXT NOT NULL,
  key_id        TEXT NOT NULL,
  client_hash   TEXT NOT NULL,
  jwks_uri      TEXT NOT NULL,
  redirect_hash TEXT NOT NULL,
  challenge     TEXT NOT NULL,
  asked         TEXT NOT NULL,
  scopes        TEXT NOT NULL,
  ends_ms       INTEGER NOT NULL,
  generation    INTEGER NOT NULL DEFAULT 0,
  refresh_hash  TEXT NOT NULL DEFAULT '',
  previous_hash TEXT NOT NULL DEFAULT '',
  salt          TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, key_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX client_grants_by_end ON client_grants (ends_ms);
CREATE TABLE signup_links (
  workspace_id TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  email        TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER NOT NULL,
  claimed_ms   INTEGER,
  -- The client address that a sign-up was asked from, the hash of the link that was mailed to its e-mail address, and what
  -- an owner of the server decided about it: nothing, admitted or rejected. Whether a workspace came from a sign-up.
  asked_from   TEXT NOT NULL DEFAULT '',
  mail_hash    TEXT,
  decision     TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX signup_links_by_expiry ON signup_links (expires_ms);
CREATE TABLE deployment_facts (
  workspace_id TEXT NOT NULL,
  name         TEXT NOT NULL,
  value        TEXT NOT NULL,
  PRIMARY KEY (workspace_id, name)
) STRICT, WITHOUT ROWID;
INSERT INTO deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'deployment', '6587d9cd6b0e5c54');
INSERT INTO deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'head 3b3996624608d791', '6');
INSERT INTO deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'master', '392d58255cfa27e4');
INSERT INTO deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'run_token', 'f46228b81338027b');
CREATE TABLE jobs (
  workspace_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  payload TEXT NOT NULL,
  due_ms INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'dead')),
  attempts INTEGER NOT NULL,
  lease_until_ms INTEGER,
  fence INTEGER NOT NULL,
  worker TEXT,
  last_error TEXT,
  created_ms INTEGER NOT NULL,
  finished_ms INTEGER,
  ready_ms INTEGER GENERATED ALWAYS AS (
        CASE state WHEN 'waiting' THEN due_ms WHEN 'running' THEN lease_until_ms END
    ) STORED,
  -- Claims of a job whose worker died. They are among `attempts`, and use up no retry.
  lost           INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, job_id),
  UNIQUE (workspace_id, kind, key)
) STRICT;
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-0eb1-74f9-8b3d-269d3fbbbf60', 'remind_people', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369137, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-0ee2-7de4-854c-5313c162840d', 'forget_reminders', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369186, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-0f29-73f6-8577-8f3b8779a2d8', 'forget_notifications', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369257, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-0f37-7422-8dbe-5d9b167d5a73', 'forget_webhook_deliveries', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369271, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-0f48-73e3-8a60-5716dab34a18', 'write_audit_checkpoint', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369288, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-0f9a-7296-81e9-fbcef63aee5b', 'forget_signup_links', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369370, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-0fd1-7fb7-ab58-fe92d1a910c7', 'forget_sign_ins', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369425, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-0fd2-7642-9bbd-a301bde2a1e1', 'forget_clients', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369426, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-1008-7d48-b3b4-cbfa3770cf7f', 'forget_idempotency_keys', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369480, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-100c-76f8-bc23-746283d42c26', 'forget_pictures', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369484, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-104f-753a-bdfd-dbe3deb42be1', 'forget_old_sessions', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369551, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-1058-7e6a-b242-910429721c74', 'erase_old_content', '1795046400000', '{}', 1795046400000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369560, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-105a-7dc7-a9fd-85b4e45fd8f2', 'forget_finished_jobs', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035369562, NULL, 0);
INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2eac-7e2e-b37e-64e4d0ac59ce', 'measure_run', '01a1f072-2e44-756d-91f1-7b77985f4cc0', '{"runId":"01a1f072-2e44-756d-91f1-7b77985f4cc0"}', 1795035378324, 'done', 1, NULL, 1, 'release', NULL, 1795035377324, 1795035378327, 0);
CREATE INDEX jobs_by_readiness ON jobs (ready_ms) WHERE ready_ms IS NOT NULL;
CREATE INDEX jobs_by_end ON jobs (state, finished_ms) WHERE finished_ms IS NOT NULL;
CREATE INDEX jobs_ahead ON jobs (ready_ms)
WHERE ready_ms IS NOT NULL AND (state = 'running' OR attempts > 0 OR kind <> 'measure_run');
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
  created_ms    INTEGER NOT NULL,
  links_from_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id)
) STRICT, WITHOUT ROWID;
INSERT INTO runs (workspace_id, run_id, tenant_id, operator, tool, inputs, outputs, status, parent_run_id, created_ms, links_from_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-756d-91f1-7b77985f4cc0', NULL, 'chieflab-post', 'chieflab_post', '{"channel":"site","body":"The tide table is out.","title":"Tides"}', '{}', 'prepared', NULL, 1795035377220, 0);
INSERT INTO runs (workspace_id, run_id, tenant_id, operator, tool, inputs, outputs, status, parent_run_id, created_ms, links_from_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3308-74d9-8d67-40ed86c8d52c', NULL, 'chieflab-post', 'chieflab_post', '{"channel":"site","body":"The winds turned.","title":"Winds"}', '{}', 'prepared', NULL, 1795035378440, 0);
INSERT INTO runs (workspace_id, run_id, tenant_id, operator, tool, inputs, outputs, status, parent_run_id, created_ms, links_from_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3343-70ce-9129-86a290c46a53', NULL, 'chieflab-post', 'chieflab_post', '{"channel":"site","body":"The stars are out tonight.","title":"Stars"}', '{}', 'prepared', NULL, 1795035378499, 0);
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
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, asset_id)
) STRICT, WITHOUT ROWID;
INSERT INTO assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-7e82-ab73-402108efef24', '01a1f072-2e44-756d-91f1-7b77985f4cc0', NULL, 'site', 'Tides', 'The tide table is out.', 'site', '{"source":"agent","claims":[],"preheader":"","parts":[],"memoryUsed":[],"warnings":[]}', 1795035377220);
INSERT INTO assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3297-7acc-b74a-7f6bcab89f6c', '01a1f072-2e44-756d-91f1-7b77985f4cc0', NULL, 'measurement', 'What became of it', 'Site: 0 views, 0 clicks

Next: Check that it can be found on Site, and measure again later. Site: 0 views, 0 clicks.', NULL, '{"measurement":{"measuredAt":"2026-11-18T20:56:18.327Z","sources":[{"source":"site","channel":"site","status":"ok","metrics":{"views":0,"clicks":0},"reason":null,"leftOut":[]}],"totals":{"views":0.0,"clicks":0.0},"baseline":[],"nextMove":{"move":"Check that it can be found on Site, and measure again later.","why":"Site: 0 views, 0 clicks.","channel":"site"}}}', 1795035378327);
INSERT INTO assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3308-753a-bfa4-b26e6f8b8678', '01a1f072-3308-74d9-8d67-40ed86c8d52c', NULL, 'site', 'Winds', 'The winds turned.', 'site', '{"source":"agent","claims":[],"preheader":"","parts":[],"memoryUsed":[],"warnings":[]}', 1795035378440);
INSERT INTO assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3343-7186-b58e-047febd2de4c', '01a1f072-3343-70ce-9129-86a290c46a53', NULL, 'site', 'Stars', 'The stars are out tonight.', 'site', '{"source":"agent","claims":[],"preheader":"","parts":[],"memoryUsed":[{"entryId":"01a1f072-332c-7c71-84b9-54036b31fbc8","kind":"rejection","how":"Asked before: “Too short, say where.”"}],"warnings":[]}', 1795035378499);
CREATE INDEX assets_by_run ON assets (workspace_id, run_id, asset_id);
CREATE TABLE actions (
  workspace_id    TEXT NOT NULL,
  action_id       TEXT NOT NULL,
  run_id          TEXT NOT NULL,
  tenant_id       TEXT,
  asset_id        TEXT,
  position        INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  effect          TEXT NOT NULL,
  digest          TEXT NOT NULL,
  revision        INTEGER NOT NULL,
  executor_tool   TEXT NOT NULL,
  status          TEXT NOT NULL
    CHECK (status IN ('awaiting_approval', 'approved', 'rejected', 'executed', 'failed')),
  execution_state TEXT NOT NULL
    CHECK (execution_state IN ('none', 'executing', 'outcome_unknown', 'retryable', 'done')),
  preflight       TEXT NOT NULL,
  created_ms      INTEGER NOT NULL,
  expires_ms      INTEGER,
  schedule_ms     INTEGER,
  approval        TEXT,
  rejection       TEXT,
  attempt         TEXT,
  executed_ms     INTEGER,
  external_id     TEXT,
  external_url    TEXT,
  metadata        TEXT NOT NULL,
  -- The severity as a number to order by; 0 is the most severe.
  risk            INTEGER NOT NULL DEFAULT 1,
  -- How people see the revision, as data.
  view            TEXT NOT NULL DEFAULT '',
  -- Who proposed an action, and whether it is held: 1 in one question for people about everything that a key proposed too
  -- fast, 2 while its agent is to change it. The indexes of what waits cover it, because the inbox leaves both out.
  proposed_by     TEXT NOT NULL DEFAULT '',
  held            INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, action_id)
) STRICT, WITHOUT ROWID;
INSERT INTO actions (workspace_id, action_id, run_id, tenant_id, asset_id, position, version, effect, digest, revision, executor_tool, status, execution_state, preflight, created_ms, expires_ms, schedule_ms, approval, rejection, attempt, executed_ms, external_id, external_url, metadata, risk, view, proposed_by, held) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-7b47-a19d-a5cbf9058ee2', '01a1f072-2e44-756d-91f1-7b77985f4cc0', NULL, '01a1f072-2e44-7e82-ab73-402108efef24', 0, 4, '{"channel":"site","verb":"publish","connector":"site","body":"The tide table is out.","title":"Tides"}', 'sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61', 1, 'chieflab_publish_approved_post', 'executed', 'done', '{"severity":"low","warnings":[],"recommendations":[],"gates":["human_approval"],"connectorReady":true,"connectorBlocker":null,"connectorFixHint":null,"estimatedCostCredits":0}', 1795035377220, 1797627377220, NULL, '{"by":"key:4b66910916171a5e","atMs":1795035377275,"assurance":"agent","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","approvers":1,"since":1,"personId":"","policy":"sha256:97c6f752e048eb23abb08e61dfa10c30d2e5a87fc73058ccf4b639363eaa9971","voices":[{"approver":"key:4b66910916171a5e","assurance":"agent","atMs":1795035377275}],"observed":{"credits":0},"claimed":null,"mac":"coLxwitpPW1GqHBv8owSKpeLGhjkJm9ZcB6_pf3YNwM"}', NULL, '{"attempt_id":"01a1f072-2e96-7cbb-ae45-68b8aecb5d1b","fence":1,"started_ms":1795035377302,"lease_until_ms":1795035437302,"tool":"chieflab_execute_approved_action","key":null,"request_digest":null,"holder":null,"leased_ms":0,"barred_until_ms":0,"restored":false,"lost_by_restore":false}', 1795035377324, 'tides-e5012f30b754', 'http://127.0.0.1:36139/feed/00000000-0000-7000-8000-000000000001/tides-e5012f30b754', '{"measureAfterMs":1000,"proposal":{"operator":"chieflab-post","caller":"key:4b66910916171a5e","label":"release"},"name":"site","observed":{"credits":0}}', 2, '{"label":"Site","noun":"Your site post","commonNoun":true,"sentence":"Publishes this on your own site, where everybody can read it.","destination":"To Your site","place":"the public feed of this server, http://127.0.0.1:36139/feed/00000000-0000-7000-8000-000000000001/","summary":"Tides","outcome":"Published: Site.","done":"Published","risk":"low","why":"It is public on your site; you can remove it.","via":"Own site","facets":{},"without":["recipients","amount","arguments"],"fields":[{"name":"title","label":"Title","most":300,"used":5},{"name":"body","label":"Text","many":true,"most":100000,"used":22}],"preview":{"kind":"page"},"hasAddress":true,"takesPicture":true,"sendsLink":true,"measured":true,"countsVisits":true,"again":{"tool":"chieflab_post","when":"the user wants another version","args":{"channel":"site"},"needs":{"body":"the new text"},"inRun":true},"undo":{"leaves":"Whoever has read it has read it, and search engines may keep a copy."},"receipt":"postId"}', 'key:4b66910916171a5e', 0);
INSERT INTO actions (workspace_id, action_id, run_id, tenant_id, asset_id, position, version, effect, digest, revision, executor_tool, status, execution_state, preflight, created_ms, expires_ms, schedule_ms, approval, rejection, attempt, executed_ms, external_id, external_url, metadata, risk, view, proposed_by, held) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3308-7cb7-8b5f-883936f8b5d5', '01a1f072-3308-74d9-8d67-40ed86c8d52c', NULL, '01a1f072-3308-753a-bfa4-b26e6f8b8678', 0, 2, '{"channel":"site","verb":"publish","connector":"site","body":"The winds turned.","title":"Winds"}', 'sha256:c6e2146ef0318aaf0b2c25809041b45abf1745465e4adc45f1f488b42ee7704a', 1, 'chieflab_publish_approved_post', 'rejected', 'none', '{"severity":"low","warnings":[],"recommendations":[],"gates":["human_approval"],"connectorReady":true,"connectorBlocker":null,"connectorFixHint":null,"estimatedCostCredits":0}', 1795035378440, 1797627378440, NULL, NULL, 'Too short, say where.', NULL, NULL, NULL, NULL, '{"measureAfterMs":1000,"proposal":{"operator":"chieflab-post","caller":"key:4b66910916171a5e","label":"release"},"name":"site","observed":{"credits":0}}', 2, '{"label":"Site","noun":"Your site post","commonNoun":true,"sentence":"Publishes this on your own site, where everybody can read it.","destination":"To Your site","place":"the public feed of this server, http://127.0.0.1:36139/feed/00000000-0000-7000-8000-000000000001/","summary":"Winds","outcome":"Published: Site.","done":"Published","risk":"low","why":"It is public on your site; you can remove it.","via":"Own site","facets":{},"without":["recipients","amount","arguments"],"fields":[{"name":"title","label":"Title","most":300,"used":5},{"name":"body","label":"Text","many":true,"most":100000,"used":17}],"preview":{"kind":"page"},"hasAddress":true,"takesPicture":true,"sendsLink":true,"measured":true,"countsVisits":true,"again":{"tool":"chieflab_post","when":"the user wants another version","args":{"channel":"site"},"needs":{"body":"the new text"},"inRun":true},"undo":{"leaves":"Whoever has read it has read it, and search engines may keep a copy."},"receipt":"postId"}', 'key:4b66910916171a5e', 0);
INSERT INTO actions (workspace_id, action_id, run_id, tenant_id, asset_id, position, version, effect, digest, revision, executor_tool, status, execution_state, preflight, created_ms, expires_ms, schedule_ms, approval, rejection, attempt, executed_ms, external_id, external_url, metadata, risk, view, proposed_by, held) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-3343-776b-b296-0795f07291c3', '01a1f072-3343-70ce-9129-86a290c46a53', NULL, '01a1f072-3343-7186-b58e-047febd2de4c', 0, 1, '{"channel":"site","verb":"publish","connector":"site","body":"The stars are out tonight.","title":"Stars"}', 'sha256:0d9a75c5aa882baecd83a21978ac9c124f543cde74006f66cc3f832ae787a669', 1, 'chieflab_publish_approved_post', 'awaiting_approval', 'none', '{"severity":"low","warnings":[],"recommendations":["Asked before: “Too short, say where.”"],"gates":["human_approval"],"connectorReady":true,"connectorBlocker":null,"connectorFixHint":null,"estimatedCostCredits":0}', 1795035378499, 1797627378499, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"measureAfterMs":1000,"proposal":{"operator":"chieflab-post","caller":"key:4b66910916171a5e","label":"release"},"name":"site","observed":{"credits":0}}', 2, '{"label":"Site","noun":"Your site post","commonNoun":true,"sentence":"Publishes this on your own site, where everybody can read it.","destination":"To Your site","place":"the public feed of this server, http://127.0.0.1:36139/feed/00000000-0000-7000-8000-000000000001/","summary":"Stars","outcome":"Published: Site.","done":"Published","risk":"low","why":"It is public on your site; you can remove it.","via":"Own site","facets":{},"without":["recipients","amount","arguments"],"fields":[{"name":"title","label":"Title","most":300,"used":5},{"name":"body","label":"Text","many":true,"most":100000,"used":26}],"preview":{"kind":"page"},"hasAddress":true,"takesPicture":true,"sendsLink":true,"measured":true,"countsVisits":true,"again":{"tool":"chieflab_post","when":"the user wants another version","args":{"channel":"site"},"needs":{"body":"the new text"},"inRun":true},"undo":{"leaves":"Whoever has read it has read it, and search engines may keep a copy."},"receipt":"postId"}', 'key:4b66910916171a5e', 0);
CREATE INDEX actions_by_run ON actions (workspace_id, run_id, position);
CREATE INDEX actions_by_tenant ON actions (workspace_id, tenant_id, status, action_id);
CREATE INDEX actions_waiting ON actions (workspace_id, action_id)
  WHERE status = 'awaiting_approval' OR execution_state = 'outcome_unknown';
CREATE INDEX actions_by_execution ON actions (executed_ms, action_id, workspace_id) WHERE executed_ms IS NOT NULL;
CREATE INDEX actions_by_id ON actions (action_id);
CREATE INDEX actions_unsent ON actions (workspace_id, action_id)
  WHERE status = 'approved' AND executor_tool <> 'workflow_advance';
CREATE INDEX actions_failed ON actions (workspace_id, action_id) WHERE status = 'failed';
CREATE INDEX actions_sent ON actions (workspace_id, executed_ms, action_id)
  WHERE executed_ms IS NOT NULL AND executor_tool <> 'workflow_advance';
CREATE INDEX actions_by_state ON actions (workspace_id, run_id, status, execution_state, expires_ms);
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
CREATE INDEX actions_unknown ON actions (workspace_id, action_id) WHERE execution_state = 'outcome_unknown';
CREATE TABLE action_approvals (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     INTEGER NOT NULL,
  approver     TEXT NOT NULL,
  assurance    TEXT NOT NULL,
  at_ms        INTEGER NOT NULL,
  -- Approvers are told apart by who they are; the name is what they were called when they said yes.
  name         TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, action_id, revision, approver)
) STRICT, WITHOUT ROWID;
CREATE TABLE workspace_policies (
  workspace_id TEXT PRIMARY KEY,
  policy       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE people (
  workspace_id TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  name         TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  role         TEXT NOT NULL DEFAULT 'owner' CHECK (role IN ('owner', 'member')),
  email        TEXT,
  ended_ms     INTEGER,
  -- Whether an owner of this server or an issuer vouches for a person's e-mail address. A signup may name any address.
  email_vouched INTEGER NOT NULL DEFAULT 0,
  -- The time zone in which a person reads times; empty before they have one.
  zone          TEXT NOT NULL DEFAULT '',
  -- Who gave the name: a file of people, the issuer that identifies them, or (empty) they themselves.
  named_by      TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX people_by_email ON people (workspace_id, lower(email));
CREATE TABLE sign_in_links (
  workspace_id TEXT NOT NULL,
  link_id      TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER NOT NULL,
  used_ms      INTEGER,
  PRIMARY KEY (workspace_id, link_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_links_by_expiry ON sign_in_links (expires_ms);
CREATE TABLE sessions (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER NOT NULL,
  ended_ms     INTEGER,
  device       TEXT NOT NULL DEFAULT '',
  -- How sure the server is who a signed-in browser belongs to. Whoever claims a sign-up gets in by an address that the
  -- agent holds too; a link from a terminal, an invitation or a mail makes a person.
  assurance    TEXT NOT NULL DEFAULT 'person',
  -- The public key that a browser made when it signed in. Its private part never leaves that browser and origin.
  public_key   TEXT,
  PRIMARY KEY (workspace_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_expiry ON sessions (expires_ms);
CREATE INDEX sessions_by_person ON sessions (workspace_id, person_id, created_ms);
CREATE TABLE checkpoints (
  workspace_id TEXT NOT NULL,
  number       INTEGER NOT NULL,
  at_ms        INTEGER NOT NULL,
  body         TEXT NOT NULL,
  signature    TEXT NOT NULL,
  public_key   TEXT NOT NULL,
  PRIMARY KEY (workspace_id, number)
) STRICT;
CREATE TABLE workflow_programs (
  workspace_id  TEXT NOT NULL,
  workflow_hash TEXT NOT NULL,
  workflow_id   TEXT NOT NULL,
  program       TEXT NOT NULL,
  created_ms    INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, workflow_hash)
) STRICT;
CREATE TABLE workflow_sessions (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  updated_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX workflow_sessions_by_age ON workflow_sessions (updated_ms);
CREATE TABLE workflow_runs (
  workspace_id  TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  session_id    TEXT NOT NULL,
  workflow_id   TEXT NOT NULL,
  workflow_hash TEXT NOT NULL,
  name          TEXT NOT NULL,
  nodes         INTEGER NOT NULL,
  created_ms    INTEGER NOT NULL,
  updated_ms    INTEGER NOT NULL,
  -- Which series of tokens a run is known by. A run that came in from a bundle keeps its id and gets a series of its own, so
  -- that no token of where it came from is a token of it, also where both have the same key.
  series        INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX workflow_runs_by_session ON workflow_runs (workspace_id, session_id, run_id);
CREATE TABLE workflow_nodes (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         INTEGER NOT NULL,
  parent       INTEGER,
  step_key     TEXT NOT NULL,
  title        TEXT NOT NULL,
  notes        TEXT NOT NULL,
  artifacts    TEXT NOT NULL,
  snapshot     TEXT NOT NULL,
  is_complete  INTEGER NOT NULL,
  children     INTEGER NOT NULL,
  event_seq    INTEGER NOT NULL,
  created_ms   INTEGER NOT NULL,
  -- The first way on from a node: what led to which child, and the tokens that were given there. The rest of that answer
  -- is made from the child again instead of being stored beside it.
  next_edge    TEXT,
  next_node    INTEGER,
  next_state   TEXT,
  next_ack     TEXT,
  PRIMARY KEY (workspace_id, run_id, node)
) STRICT, WITHOUT ROWID;
CREATE TABLE workflow_answers (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         INTEGER NOT NULL,
  edge         TEXT NOT NULL,
  child        INTEGER,
  answer       TEXT NOT NULL,
  text         TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, edge)
) STRICT;
CREATE TABLE workflow_checkpoints (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         INTEGER NOT NULL,
  digest       TEXT NOT NULL,
  notes        TEXT NOT NULL,
  event_seq    INTEGER NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, digest)
) STRICT;
CREATE TABLE workflow_confirmations (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  node         INTEGER NOT NULL,
  content      TEXT NOT NULL,
  step_key     TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  event_seq    INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, node, content, action_id)
) STRICT;
CREATE TABLE workflow_session_notes (
  workspace_id TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  note_id      TEXT NOT NULL,
  author       TEXT NOT NULL,
  notes        TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, session_id, note_id)
) STRICT;
CREATE TABLE memberships (
  workspace_id TEXT NOT NULL,
  person_id    TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_by_person ON memberships (person_id, workspace_id);
CREATE TABLE action_revisions (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     INTEGER NOT NULL,
  effect       TEXT NOT NULL,
  view         TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, action_id, revision)
) STRICT, WITHOUT ROWID;
CREATE TABLE vault_keys (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  sealed_by    TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  made_ms      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE vault_secrets (
  workspace_id TEXT NOT NULL,
  holder       TEXT NOT NULL,
  field        TEXT NOT NULL,
  sealed       TEXT NOT NULL,
  changed_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, holder, field)
) STRICT, WITHOUT ROWID;
CREATE TABLE connections (
  workspace_id TEXT NOT NULL,
  provider     TEXT NOT NULL,
  state        TEXT NOT NULL,
  label        TEXT NOT NULL,
  accounts     TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  settings     TEXT NOT NULL,
  expires_ms   INTEGER,
  connected_by TEXT NOT NULL,
  connected_ms INTEGER NOT NULL,
  changed_ms   INTEGER NOT NULL,
  problem      TEXT,
  version      INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, provider)
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_deliveries (
  workspace_id TEXT NOT NULL,
  delivery_id  TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  type         TEXT NOT NULL,
  url          TEXT NOT NULL,
  body         TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  tries        INTEGER NOT NULL,
  resends      INTEGER NOT NULL,
  next_try_ms  INTEGER,
  created_ms   INTEGER NOT NULL,
  ended_ms     INTEGER,
  -- A delivery of an event names its subscription and action; that of a test has no action, that of a result neither.
  subscription_id TEXT NOT NULL DEFAULT '',
  action_id       TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, delivery_id)
) STRICT;
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_ms);
CREATE INDEX webhook_deliveries_by_subscription ON webhook_deliveries (workspace_id, subscription_id, delivery_id)
WHERE subscription_id <> '';
CREATE INDEX webhook_deliveries_queued ON webhook_deliveries (workspace_id, subscription_id)
WHERE state = 'waiting' AND subscription_id <> '';
CREATE TABLE webhook_tries (
  workspace_id TEXT NOT NULL,
  delivery_id  TEXT NOT NULL,
  number       INTEGER NOT NULL,
  at_ms        INTEGER NOT NULL,
  duration_ms  INTEGER NOT NULL,
  outcome      TEXT NOT NULL,
  status       INTEGER,
  detail       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, delivery_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE pictures (
  workspace_id TEXT NOT NULL,
  digest       TEXT NOT NULL,
  content_type TEXT NOT NULL,
  width        INTEGER NOT NULL,
  height       INTEGER NOT NULL,
  size         INTEGER NOT NULL,
  content      BLOB NOT NULL,
  created_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, digest)
) STRICT;
CREATE INDEX pictures_by_age ON pictures (created_ms);
CREATE TABLE picture_uses (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  digest       TEXT NOT NULL,
  kept         INTEGER NOT NULL CHECK (kept IN (0, 1)),
  PRIMARY KEY (workspace_id, run_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX picture_uses_by_picture ON picture_uses (workspace_id, digest, kept);
CREATE TABLE oauth_states (
  workspace_id  TEXT NOT NULL,
  state_hash    TEXT NOT NULL,
  for_workspace TEXT NOT NULL,
  provider      TEXT NOT NULL,
  session_id    TEXT NOT NULL,
  person_id     TEXT NOT NULL,
  created_ms    INTEGER NOT NULL,
  expires_ms    INTEGER NOT NULL,
  used_ms       INTEGER,
  PRIMARY KEY (workspace_id, state_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_states_by_end ON oauth_states (workspace_id, expires_ms);
CREATE TABLE oauth_turns (
  workspace_id TEXT NOT NULL,
  provider     TEXT NOT NULL,
  holder       TEXT NOT NULL,
  until_ms     INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, provider)
) STRICT, WITHOUT ROWID;
CREATE TABLE stored_bytes (
  workspace_id TEXT NOT NULL,
  day          INTEGER NOT NULL,
  bytes        INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, day)
) STRICT, WITHOUT ROWID;
INSERT INTO stored_bytes (workspace_id, day, bytes) VALUES ('00000000-0000-7000-8000-000000000001', 20775, 11545);
CREATE TABLE action_recipients (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  address      TEXT NOT NULL,
  at_ms        INTEGER NOT NULL,
  expires_ms   INTEGER,
  PRIMARY KEY (workspace_id, action_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX action_recipients_by_time ON action_recipients (workspace_id, at_ms, address);
CREATE TABLE notification_targets (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  kind         TEXT NOT NULL,
  shown        TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  told_ms      INTEGER,
  problem      TEXT,
  -- Notification targets of a person are stored with the server's workspace; those of a workspace have no person. Each has
  -- its choices: causes and risks (as digits of actions.risk), whether it arrives without a sound, when it reminds.
  person_id    TEXT NOT NULL DEFAULT '',
  causes       TEXT NOT NULL DEFAULT 'waiting decided problems reminders',
  risks        TEXT NOT NULL DEFAULT '012',
  quiet        INTEGER NOT NULL DEFAULT 0,
  remind_ms    INTEGER NOT NULL DEFAULT 86400000,
  PRIMARY KEY (workspace_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE component_versions (
  component  TEXT NOT NULL,
  version    INTEGER NOT NULL,
  name       TEXT NOT NULL,
  prefix     TEXT NOT NULL,
  applied_at INTEGER NOT NULL,
  digest     TEXT NOT NULL,
  PRIMARY KEY (component, version)
) STRICT, WITHOUT ROWID;
INSERT INTO component_versions (component, version, name, prefix, applied_at, digest) VALUES ('launch', 1, 'launch', 'launch_', 1795035366526, 'dded3195bc4646885e84fcd3fbfb40ddaaae01c0b47cefd97528c7fd58ca8be4');
INSERT INTO component_versions (component, version, name, prefix, applied_at, digest) VALUES ('wrap', 1, 'wrap', 'wrap_', 1795035366526, 'a10ed29d54fe847b38f870143cb0d92f7cba11867807849e585befefa93ae541');
CREATE TABLE used_nonces (
  workspace_id TEXT NOT NULL,
  nonce_hash   TEXT NOT NULL,
  expires_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, nonce_hash)
) STRICT;
CREATE INDEX used_nonces_by_end ON used_nonces (expires_ms);
CREATE TABLE passkeys (
  workspace_id  TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  person_id     TEXT NOT NULL,
  public_key    TEXT NOT NULL,
  sign_count    INTEGER NOT NULL,
  label         TEXT NOT NULL,
  created_ms    INTEGER NOT NULL,
  used_ms       INTEGER,
  PRIMARY KEY (workspace_id, credential_id)
) STRICT;
CREATE INDEX passkeys_by_person ON passkeys (workspace_id, person_id);
CREATE TABLE identities (
  workspace_id   TEXT NOT NULL,
  issuer         TEXT NOT NULL,
  subject        TEXT NOT NULL,
  person_id      TEXT NOT NULL,
  follows_claims INTEGER NOT NULL,
  linked_ms      INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_person ON identities (workspace_id, person_id);
CREATE TABLE used_sign_in_states (
  workspace_id TEXT NOT NULL,
  state_hash   TEXT NOT NULL,
  expires_ms   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, state_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX used_sign_in_states_by_end ON used_sign_in_states (workspace_id, expires_ms);
CREATE TABLE notification_messages (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  message      TEXT NOT NULL,
  sent_ms      INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, target_id, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_messages_by_time ON notification_messages (sent_ms);
CREATE TABLE notification_reminders (
  workspace_id TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  kind         TEXT NOT NULL,
  told_ms      INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, action_id, target_id, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE policy_versions (
  workspace_id TEXT NOT NULL,
  version      INTEGER NOT NULL,
  digest       TEXT NOT NULL,
  source       TEXT NOT NULL,
  set_by       TEXT NOT NULL,
  at_ms        INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_subscriptions (
  workspace_id     TEXT NOT NULL,
  subscription_id  TEXT NOT NULL,
  url              TEXT NOT NULL,
  events           TEXT NOT NULL,
  enabled          INTEGER NOT NULL,
  created_by       TEXT NOT NULL,
  created_ms       INTEGER NOT NULL,
  delivered_ms     INTEGER,
  failing_since_ms INTEGER,
  PRIMARY KEY (workspace_id, subscription_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE workspace_brands (
  workspace_id TEXT PRIMARY KEY,
  accent       TEXT NOT NULL,
  logo_digest  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE brand_logos (
  workspace_id TEXT NOT NULL,
  logo_digest  TEXT NOT NULL,
  media_type   TEXT NOT NULL,
  content      BLOB NOT NULL,
  PRIMARY KEY (workspace_id, logo_digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE callers_seen (
  workspace_id TEXT NOT NULL,
  caller       TEXT NOT NULL,
  seen_ms      INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, caller)
) STRICT, WITHOUT ROWID;
INSERT INTO callers_seen (workspace_id, caller, seen_ms) VALUES ('00000000-0000-7000-8000-000000000001', 'key:4b66910916171a5e', 1795035376218);
CREATE TABLE freezes (
  workspace_id TEXT NOT NULL,
  agent        TEXT NOT NULL DEFAULT '',
  label        TEXT NOT NULL DEFAULT '',
  since_ms     INTEGER NOT NULL,
  set_by       TEXT NOT NULL,
  why          TEXT NOT NULL,
  PRIMARY KEY (workspace_id, agent)
) STRICT, WITHOUT ROWID;
CREATE TABLE search_texts (
  number       INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  item_id      TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  about        TEXT NOT NULL,
  body         TEXT NOT NULL,
  UNIQUE (workspace_id, item_id)
) STRICT;
INSERT INTO search_texts (number, workspace_id, item_id, run_id, about, body) VALUES (1, '00000000-0000-7000-8000-000000000001', '01a1f072-2e44-756d-91f1-7b77985f4cc0', '01a1f072-2e44-756d-91f1-7b77985f4cc0', ' Tides ', 'chieflab-post 01a1f072-2e44-756d-91f1-7b77985f4cc0 site The tide table is out. Tides');
INSERT INTO search_texts (number, workspace_id, item_id, run_id, about, body) VALUES (2, '00000000-0000-7000-8000-000000000001', '01a1f072-2e44-7b47-a19d-a5cbf9058ee2', '01a1f072-2e44-756d-91f1-7b77985f4cc0', ' Tides  release', 'Site Your site post  To Your site Tides The tide table is out.');
INSERT INTO search_texts (number, workspace_id, item_id, run_id, about, body) VALUES (3, '00000000-0000-7000-8000-000000000001', '01a1f072-3308-74d9-8d67-40ed86c8d52c', '01a1f072-3308-74d9-8d67-40ed86c8d52c', ' Winds ', 'chieflab-post 01a1f072-3308-74d9-8d67-40ed86c8d52c site The winds turned. Winds');
INSERT INTO search_texts (number, workspace_id, item_id, run_id, about, body) VALUES (4, '00000000-0000-7000-8000-000000000001', '01a1f072-3308-7cb7-8b5f-883936f8b5d5', '01a1f072-3308-74d9-8d67-40ed86c8d52c', ' Winds  release', 'Site Your site post  To Your site Winds The winds turned.');
INSERT INTO search_texts (number, workspace_id, item_id, run_id, about, body) VALUES (5, '00000000-0000-7000-8000-000000000001', '01a1f072-3343-70ce-9129-86a290c46a53', '01a1f072-3343-70ce-9129-86a290c46a53', ' Stars ', 'chieflab-post 01a1f072-3343-70ce-9129-86a290c46a53 site The stars are out tonight. Stars');
INSERT INTO search_texts (number, workspace_id, item_id, run_id, about, body) VALUES (6, '00000000-0000-7000-8000-000000000001', '01a1f072-3343-776b-b296-0795f07291c3', '01a1f072-3343-70ce-9129-86a290c46a53', ' Stars  release', 'Site Your site post  To Your site Stars The stars are out tonight.');
CREATE INDEX search_texts_by_run ON search_texts (workspace_id, run_id);
CREATE VIRTUAL TABLE search_words USING fts5 (
  about, body, content = 'search_texts', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2",
  prefix = '2 3'
);
CREATE TRIGGER search_texts_added AFTER INSERT ON search_texts BEGIN
  INSERT INTO search_words (rowid, about, body) VALUES (new.number, new.about, new.body);
END;
CREATE TRIGGER search_texts_removed AFTER DELETE ON search_texts BEGIN
  INSERT INTO search_words (search_words, rowid, about, body) VALUES ('delete', old.number, old.about, old.body);
END;
CREATE TRIGGER search_texts_changed AFTER UPDATE ON search_texts BEGIN
  INSERT INTO search_words (search_words, rowid, about, body) VALUES ('delete', old.number, old.about, old.body);
  INSERT INTO search_words (rowid, about, body) VALUES (new.number, new.about, new.body);
END;
CREATE TABLE launch_site_posts (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  revision     INTEGER NOT NULL,
  post_id      TEXT NOT NULL,
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  link         TEXT NOT NULL,
  media        TEXT NOT NULL,
  published_ms INTEGER NOT NULL,
  -- When a page of the feed was taken down; its text and its counts stay.
  removed_ms   INTEGER,
  PRIMARY KEY (workspace_id, action_id, revision)
) STRICT;
INSERT INTO launch_site_posts (workspace_id, action_id, revision, post_id, title, body, link, media, published_ms, removed_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-7b47-a19d-a5cbf9058ee2', 1, 'tides-e5012f30b754', 'Tides', 'The tide table is out.', '', '[]', 1795035377313, NULL);
CREATE UNIQUE INDEX launch_site_posts_by_address ON launch_site_posts (workspace_id, post_id);
CREATE INDEX launch_site_posts_newest ON launch_site_posts (workspace_id, published_ms, post_id);
CREATE TABLE launch_site_visits (
  workspace_id TEXT NOT NULL,
  post_id      TEXT NOT NULL,
  day          INTEGER NOT NULL,
  link         TEXT NOT NULL,
  visits       INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, post_id, day, link)
) STRICT, WITHOUT ROWID;
CREATE TABLE launch_brain_entries (
  number       INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  entry_id     TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  kind         TEXT NOT NULL,
  body         TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('confirmed', 'proposed', 'retired')),
  source       TEXT NOT NULL,
  channel      TEXT,
  run_id       TEXT,
  action_id    TEXT,
  facts        TEXT NOT NULL,
  natural_key  TEXT,
  created_ms   INTEGER NOT NULL,
  UNIQUE (workspace_id, entry_id),
  UNIQUE (workspace_id, natural_key)
) STRICT;
INSERT INTO launch_brain_entries (number, workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, natural_key, created_ms) VALUES (1, '00000000-0000-7000-8000-000000000001', '01a1f072-2e7b-7b0a-8acf-86df49250fdc', 'default', 'approval', 'Approved for site: The tide table is out.', 'confirmed', 'a decision', 'site', '01a1f072-2e44-756d-91f1-7b77985f4cc0', '01a1f072-2e44-7b47-a19d-a5cbf9058ee2', '{"by":"key:4b66910916171a5e","assurance":"agent","revision":1,"text":"The tide table is out."}', 'approval:01a1f072-2e44-7b47-a19d-a5cbf9058ee2:1', 1795035377275);
INSERT INTO launch_brain_entries (number, workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, natural_key, created_ms) VALUES (2, '00000000-0000-7000-8000-000000000001', '01a1f072-3297-7541-b9e7-d64fa3a18cd4', 'default', 'channel_performance', '“Tides”: Site: 0 views, 0 clicks.', 'confirmed', 'site', 'site', '01a1f072-2e44-756d-91f1-7b77985f4cc0', NULL, '{"metrics":{"views":0,"clicks":0}}', 'performance:01a1f072-3297-7acc-b74a-7f6bcab89f6c:0', 1795035378327);
INSERT INTO launch_brain_entries (number, workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, natural_key, created_ms) VALUES (3, '00000000-0000-7000-8000-000000000001', '01a1f072-332c-7c71-84b9-54036b31fbc8', 'default', 'rejection', 'Rejected for site: Too short, say where.', 'confirmed', 'a decision', 'site', '01a1f072-3308-74d9-8d67-40ed86c8d52c', '01a1f072-3308-7cb7-8b5f-883936f8b5d5', '{"by":"key:4b66910916171a5e","assurance":"agent","revision":1,"text":"The winds turned.","reason":"Too short, say where."}', 'rejection:01a1f072-3308-7cb7-8b5f-883936f8b5d5:1', 1795035378476);
CREATE INDEX launch_brain_by_tenant ON launch_brain_entries (workspace_id, tenant_id, kind, entry_id);
CREATE INDEX launch_brain_lessons ON launch_brain_entries (workspace_id, entry_id)
  WHERE kind IN ('channel_performance', 'rejection', 'lesson') AND state <> 'retired';
CREATE INDEX launch_brain_by_kind ON launch_brain_entries (workspace_id, kind, entry_id);
CREATE TABLE launch_measurements (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  tenant_id    TEXT NOT NULL,
  asset_id     TEXT,
  due_ms       INTEGER NOT NULL,
  measured_ms  INTEGER,
  body         TEXT,
  PRIMARY KEY (workspace_id, run_id)
) STRICT, WITHOUT ROWID;
INSERT INTO launch_measurements (workspace_id, run_id, tenant_id, asset_id, due_ms, measured_ms, body) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-2e44-756d-91f1-7b77985f4cc0', 'default', '01a1f072-3297-7acc-b74a-7f6bcab89f6c', 1795035378324, 1795035378327, '{"measuredAt":"2026-11-18T20:56:18.327Z","sources":[{"source":"site","channel":"site","status":"ok","metrics":{"views":0,"clicks":0},"reason":null,"leftOut":[]}],"totals":{"views":0.0,"clicks":0.0},"baseline":[],"nextMove":{"move":"Check that it can be found on Site, and measure again later.","why":"Site: 0 views, 0 clicks.","channel":"site"}}');
CREATE INDEX launch_measurements_by_tenant ON launch_measurements (workspace_id, tenant_id, measured_ms)
  WHERE measured_ms IS NOT NULL;
CREATE INDEX launch_measurements_due ON launch_measurements (workspace_id, due_ms) WHERE measured_ms IS NULL;
CREATE INDEX launch_measurements_due_of_tenant ON launch_measurements (workspace_id, tenant_id, due_ms)
  WHERE measured_ms IS NULL;
CREATE INDEX launch_measurements_read ON launch_measurements (workspace_id, measured_ms) WHERE measured_ms IS NOT NULL;
CREATE TABLE launch_manual_metrics (
  workspace_id TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  channel      TEXT NOT NULL,
  metrics      TEXT NOT NULL,
  source       TEXT NOT NULL,
  recorded_ms  INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, run_id, channel)
) STRICT, WITHOUT ROWID;
CREATE TABLE launch_credit_accounts (
  workspace_id TEXT PRIMARY KEY,
  unlimited    INTEGER NOT NULL,
  granted      INTEGER NOT NULL,
  spent        INTEGER NOT NULL,
  reserved     INTEGER NOT NULL,
  seq          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE launch_credit_entries (
  workspace_id TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('grant', 'limit', 'unlimit', 'reserve', 'release', 'settle', 'charge')),
  amount       INTEGER NOT NULL,
  action_id    TEXT,
  attempt_id   TEXT,
  by_whom      TEXT NOT NULL,
  at_ms        INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE launch_credit_charges (
  workspace_id TEXT NOT NULL,
  action_id    TEXT NOT NULL,
  amount       INTEGER NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('reserved', 'released', 'settled')),
  PRIMARY KEY (workspace_id, action_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE launch_memory_uses (
  workspace_id TEXT NOT NULL,
  entry_id     TEXT NOT NULL,
  asset_id     TEXT NOT NULL,
  run_id       TEXT NOT NULL,
  PRIMARY KEY (workspace_id, entry_id, asset_id)
) STRICT, WITHOUT ROWID;
INSERT INTO launch_memory_uses (workspace_id, entry_id, asset_id, run_id) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-332c-7c71-84b9-54036b31fbc8', '01a1f072-3343-7186-b58e-047febd2de4c', '01a1f072-3343-70ce-9129-86a290c46a53');
CREATE VIRTUAL TABLE launch_brain_words USING fts5 (
  body, content = 'launch_brain_entries', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2"
);
CREATE TABLE wrap_profiles (
  workspace_id TEXT NOT NULL,
  profile_id   TEXT NOT NULL,
  used_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, profile_id)
);
CREATE TABLE wrap_tools (
  workspace_id TEXT NOT NULL,
  server       TEXT NOT NULL,
  tool         TEXT NOT NULL,
  pin          TEXT NOT NULL,
  definition   TEXT NOT NULL,
  accepted_ms  BIGINT NOT NULL,
  -- Whether a tool has said that it only reads since the server's first list, which was accepted at one moment.
  hinted       BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, server, tool)
);
CREATE TABLE wrap_calls (
  workspace_id TEXT NOT NULL,
  holder       TEXT NOT NULL,
  call         TEXT NOT NULL,
  generation   BIGINT NOT NULL,
  action_id    TEXT NOT NULL,
  PRIMARY KEY (workspace_id, holder, call)
);
CREATE TABLE wrap_observed (
  workspace_id TEXT NOT NULL,
  server       TEXT NOT NULL,
  tool         TEXT NOT NULL,
  -- Both are empty in the row that counts all calls of the tool.
  argument     TEXT NOT NULL,
  beginning    TEXT NOT NULL,
  calls        BIGINT NOT NULL,
  last_ms      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, server, tool, argument, beginning)
);
CREATE TABLE wrap_rules (
  workspace_id TEXT NOT NULL,
  name         TEXT NOT NULL,
  -- The rule as it was written, and the MAC that shows that this server recorded it.
  body         TEXT NOT NULL,
  seal         TEXT NOT NULL,
  set_by       TEXT NOT NULL,
  set_ms       BIGINT NOT NULL,
  used         BIGINT NOT NULL,
  last_ms      BIGINT,
  PRIMARY KEY (workspace_id, name)
);
