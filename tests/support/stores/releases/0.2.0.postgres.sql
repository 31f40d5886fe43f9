CREATE TABLE public.action_approvals (
    workspace_id text NOT NULL,
    action_id text NOT NULL,
    revision bigint NOT NULL,
    approver text NOT NULL,
    assurance text NOT NULL,
    at_ms bigint NOT NULL,
    name text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.action_recipients (
    workspace_id text NOT NULL,
    action_id text NOT NULL,
    address text NOT NULL,
    at_ms bigint NOT NULL,
    expires_ms bigint
);
CREATE TABLE public.action_revisions (
    workspace_id text NOT NULL,
    action_id text NOT NULL,
    revision bigint NOT NULL,
    effect text NOT NULL,
    view text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.actions (
    workspace_id text NOT NULL,
    action_id text NOT NULL,
    run_id text NOT NULL,
    tenant_id text,
    asset_id text,
    "position" bigint NOT NULL,
    version bigint NOT NULL,
    effect text NOT NULL,
    digest text NOT NULL,
    revision bigint NOT NULL,
    executor_tool text NOT NULL,
    status text NOT NULL,
    execution_state text NOT NULL,
    preflight text NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint,
    schedule_ms bigint,
    approval text,
    rejection text,
    attempt text,
    executed_ms bigint,
    external_id text,
    external_url text,
    metadata text NOT NULL,
    risk bigint DEFAULT 1 NOT NULL,
    view text DEFAULT ''::text NOT NULL,
    proposed_by text DEFAULT ''::text NOT NULL,
    held integer DEFAULT 0 NOT NULL,
    CONSTRAINT actions_execution_state_check CHECK ((execution_state = ANY (ARRAY['none'::text, 'executing'::text, 'outcome_unknown'::text, 'retryable'::text, 'done'::text]))),
    CONSTRAINT actions_status_check CHECK ((status = ANY (ARRAY['awaiting_approval'::text, 'approved'::text, 'rejected'::text, 'executed'::text, 'failed'::text])))
);
CREATE TABLE public.api_keys (
    workspace_id text NOT NULL,
    key_id text NOT NULL,
    mode text NOT NULL,
    secret_hash text NOT NULL,
    label text NOT NULL,
    scopes text NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint,
    revoked_ms bigint,
    first_key_id text,
    toolsets text DEFAULT ''::text NOT NULL,
    client_dialog integer DEFAULT 1 NOT NULL,
    person_id text,
    client text,
    CONSTRAINT api_keys_mode_check CHECK ((mode = ANY (ARRAY['dev'::text, 'live'::text])))
);
CREATE TABLE public.assets (
    workspace_id text NOT NULL,
    asset_id text NOT NULL,
    run_id text NOT NULL,
    tenant_id text,
    type text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    channel text,
    metadata text NOT NULL,
    created_ms bigint NOT NULL
);
CREATE TABLE public.brand_logos (
    workspace_id text NOT NULL,
    logo_digest text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL
);
CREATE TABLE public.callers_seen (
    workspace_id text NOT NULL,
    caller text NOT NULL,
    seen_ms bigint NOT NULL
);
CREATE TABLE public.checkpoints (
    workspace_id text NOT NULL,
    number bigint NOT NULL,
    at_ms bigint NOT NULL,
    body text NOT NULL,
    signature text NOT NULL,
    public_key text NOT NULL
);
CREATE TABLE public.client_grants (
    workspace_id text NOT NULL,
    key_id text NOT NULL,
    client_hash text NOT NULL,
    jwks_uri text NOT NULL,
    redirect_hash text NOT NULL,
    challenge text NOT NULL,
    asked text NOT NULL,
    scopes text NOT NULL,
    ends_ms bigint NOT NULL,
    generation integer DEFAULT 0 NOT NULL,
    refresh_hash text DEFAULT ''::text NOT NULL,
    previous_hash text DEFAULT ''::text NOT NULL,
    salt text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.component_versions (
    component text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    applied_at bigint NOT NULL,
    digest text NOT NULL
);
CREATE TABLE public.connections (
    workspace_id text NOT NULL,
    provider text NOT NULL,
    state text NOT NULL,
    label text NOT NULL,
    accounts text NOT NULL,
    scopes text NOT NULL,
    settings text NOT NULL,
    expires_ms bigint,
    connected_by text NOT NULL,
    connected_ms bigint NOT NULL,
    changed_ms bigint NOT NULL,
    problem text,
    version bigint NOT NULL
);
CREATE TABLE public.deployment_facts (
    workspace_id text NOT NULL,
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE public.events (
    workspace_id text NOT NULL,
    stream_id text NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL,
    at_ms bigint NOT NULL,
    body text NOT NULL,
    hash text NOT NULL
);
CREATE TABLE public.freezes (
    workspace_id text NOT NULL,
    agent text DEFAULT ''::text NOT NULL,
    label text DEFAULT ''::text NOT NULL,
    since_ms bigint NOT NULL,
    set_by text NOT NULL,
    why text NOT NULL
);
CREATE TABLE public.idempotency (
    workspace_id text NOT NULL,
    tool text NOT NULL,
    key text NOT NULL,
    request_digest text NOT NULL,
    response bytea,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    holder text
);
CREATE TABLE public.identities (
    workspace_id text NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    person_id text NOT NULL,
    follows_claims integer NOT NULL,
    linked_ms bigint NOT NULL
);
CREATE TABLE public.jobs (
    workspace_id text NOT NULL,
    job_id text NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    payload text NOT NULL,
    due_ms bigint NOT NULL,
    state text NOT NULL,
    attempts bigint NOT NULL,
    lease_until_ms bigint,
    fence bigint NOT NULL,
    worker text,
    last_error text,
    created_ms bigint NOT NULL,
    finished_ms bigint,
    ready_ms bigint GENERATED ALWAYS AS (
CASE state
    WHEN 'waiting'::text THEN due_ms
    WHEN 'running'::text THEN lease_until_ms
    ELSE NULL::bigint
END) STORED,
    lost bigint DEFAULT 0 NOT NULL,
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'dead'::text])))
);
CREATE TABLE public.launch_brain_entries (
    workspace_id text NOT NULL,
    entry_id text NOT NULL,
    tenant_id text NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    state text NOT NULL,
    source text NOT NULL,
    channel text,
    run_id text,
    action_id text,
    facts text NOT NULL,
    natural_key text,
    created_ms bigint NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, body)) STORED,
    CONSTRAINT launch_brain_entries_state_check CHECK ((state = ANY (ARRAY['confirmed'::text, 'proposed'::text, 'retired'::text])))
);
CREATE TABLE public.launch_credit_accounts (
    workspace_id text NOT NULL,
    unlimited bigint NOT NULL,
    granted bigint NOT NULL,
    spent bigint NOT NULL,
    reserved bigint NOT NULL,
    seq bigint NOT NULL
);
CREATE TABLE public.launch_credit_charges (
    workspace_id text NOT NULL,
    action_id text NOT NULL,
    amount bigint NOT NULL,
    state text NOT NULL,
    CONSTRAINT launch_credit_charges_state_check CHECK ((state = ANY (ARRAY['reserved'::text, 'released'::text, 'settled'::text])))
);
CREATE TABLE public.launch_credit_entries (
    workspace_id text NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL,
    amount bigint NOT NULL,
    action_id text,
    attempt_id text,
    by_whom text NOT NULL,
    at_ms bigint NOT NULL,
    CONSTRAINT launch_credit_entries_kind_check CHECK ((kind = ANY (ARRAY['grant'::text, 'limit'::text, 'unlimit'::text, 'reserve'::text, 'release'::text, 'settle'::text, 'charge'::text])))
);
CREATE TABLE public.launch_manual_metrics (
    workspace_id text NOT NULL,
    run_id text NOT NULL,
    channel text NOT NULL,
    metrics text NOT NULL,
    source text NOT NULL,
    recorded_ms bigint NOT NULL
);
CREATE TABLE public.launch_measurements (
    workspace_id text NOT NULL,
    run_id text NOT NULL,
    tenant_id text NOT NULL,
    asset_id text,
    due_ms bigint NOT NULL,
    measured_ms bigint,
    body text
);
CREATE TABLE public.launch_memory_uses (
    workspace_id text NOT NULL,
    entry_id text NOT NULL,
    asset_id text NOT NULL,
    run_id text NOT NULL
);
CREATE TABLE public.launch_site_posts (
    workspace_id text NOT NULL,
    action_id text NOT NULL,
    revision bigint NOT NULL,
    post_id text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    link text NOT NULL,
    media text NOT NULL,
    published_ms bigint NOT NULL,
    removed_ms bigint
);
CREATE TABLE public.launch_site_visits (
    workspace_id text NOT NULL,
    post_id text NOT NULL,
    day bigint NOT NULL,
    link text NOT NULL,
    visits bigint NOT NULL
);
CREATE TABLE public.memberships (
    workspace_id text NOT NULL,
    person_id text NOT NULL,
    created_ms bigint NOT NULL
);
CREATE TABLE public.notification_messages (
    workspace_id text NOT NULL,
    target_id text NOT NULL,
    run_id text NOT NULL,
    message text NOT NULL,
    sent_ms bigint NOT NULL
);
CREATE TABLE public.notification_reminders (
    workspace_id text NOT NULL,
    target_id text NOT NULL,
    action_id text NOT NULL,
    kind text NOT NULL,
    told_ms bigint NOT NULL
);
CREATE TABLE public.notification_targets (
    workspace_id text NOT NULL,
    target_id text NOT NULL,
    kind text NOT NULL,
    shown text NOT NULL,
    created_ms bigint NOT NULL,
    told_ms bigint,
    problem text,
    person_id text DEFAULT ''::text NOT NULL,
    causes text DEFAULT 'waiting decided problems reminders'::text NOT NULL,
    risks text DEFAULT '012'::text NOT NULL,
    quiet bigint DEFAULT 0 NOT NULL,
    remind_ms bigint DEFAULT 86400000 NOT NULL
);
CREATE TABLE public.oauth_states (
    workspace_id text NOT NULL,
    state_hash text NOT NULL,
    for_workspace text NOT NULL,
    provider text NOT NULL,
    session_id text NOT NULL,
    person_id text NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint NOT NULL,
    used_ms bigint
);
CREATE TABLE public.oauth_turns (
    workspace_id text NOT NULL,
    provider text NOT NULL,
    holder text NOT NULL,
    until_ms bigint NOT NULL
);
CREATE TABLE public.passkeys (
    workspace_id text NOT NULL,
    credential_id text NOT NULL,
    person_id text NOT NULL,
    public_key text NOT NULL,
    sign_count bigint NOT NULL,
    label text NOT NULL,
    created_ms bigint NOT NULL,
    used_ms bigint
);
CREATE TABLE public.people (
    workspace_id text NOT NULL,
    person_id text NOT NULL,
    name text NOT NULL,
    created_ms bigint NOT NULL,
    role text DEFAULT 'owner'::text NOT NULL,
    email text,
    ended_ms bigint,
    email_vouched integer DEFAULT 0 NOT NULL,
    zone text DEFAULT ''::text NOT NULL,
    named_by text DEFAULT ''::text NOT NULL,
    CONSTRAINT people_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text])))
);
CREATE TABLE public.picture_uses (
    workspace_id text NOT NULL,
    run_id text NOT NULL,
    digest text NOT NULL,
    kept bigint NOT NULL,
    CONSTRAINT picture_uses_kept_check CHECK ((kept = ANY (ARRAY[(0)::bigint, (1)::bigint])))
);
CREATE TABLE public.pictures (
    workspace_id text NOT NULL,
    digest text NOT NULL,
    content_type text NOT NULL,
    width bigint NOT NULL,
    height bigint NOT NULL,
    size bigint NOT NULL,
    content bytea NOT NULL,
    created_ms bigint NOT NULL
);
CREATE TABLE public.policy_versions (
    workspace_id text NOT NULL,
    version bigint NOT NULL,
    digest text NOT NULL,
    source text NOT NULL,
    set_by text NOT NULL,
    at_ms bigint NOT NULL
);
CREATE TABLE public.rate_windows (
    workspace_id text NOT NULL,
    bucket text NOT NULL,
    slots jsonb NOT NULL
);
CREATE TABLE public.runs (
    workspace_id text NOT NULL,
    run_id text NOT NULL,
    tenant_id text,
    operator text NOT NULL,
    tool text NOT NULL,
    inputs text NOT NULL,
    outputs text NOT NULL,
    status text NOT NULL,
    parent_run_id text,
    created_ms bigint NOT NULL,
    links_from_ms bigint NOT NULL
);
CREATE TABLE public.schema_versions (
    version bigint NOT NULL,
    name text NOT NULL,
    applied_at bigint NOT NULL,
    digest text NOT NULL
);
CREATE TABLE public.search_texts (
    workspace_id text NOT NULL,
    item_id text NOT NULL,
    run_id text NOT NULL,
    about text NOT NULL,
    body text NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, translate(((about || ' '::text) || body), '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöùúûüýÿĀāĂăĄąĆćĈĉĊċČčĎďĒēĔĕĖėĘęĚěĜĝĞğĠġĢģĤĥĨĩĪīĬĭĮįİĲĳĴĵĶķĹĺĻļĽľĿŀŃńŅņŇňŌōŎŏŐőŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŲųŴŵŶŷŸŹźŻżŽž'::text, '                                AAAAAACEEEEIIIINOOOOOUUUUYaaaaaaceeeeiiiinooooouuuuyyAaAaAaCcCcCcCcDdEeEeEeEeEeGgGgGgGgHhIiIiIiIiIIiJjKkLlLlLlLlNnNnNnOoOoOoRrRrRrSsSsSsSsTtTtUuUuUuUuUuUuWwYyYZzZzZz'::text))) STORED
);
CREATE TABLE public.sessions (
    workspace_id text NOT NULL,
    session_id text NOT NULL,
    person_id text NOT NULL,
    secret_hash text NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint NOT NULL,
    ended_ms bigint,
    device text DEFAULT ''::text NOT NULL,
    assurance text DEFAULT 'person'::text NOT NULL,
    public_key text
);
CREATE TABLE public.sign_in_links (
    workspace_id text NOT NULL,
    link_id text NOT NULL,
    person_id text NOT NULL,
    secret_hash text NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint NOT NULL,
    used_ms bigint
);
CREATE TABLE public.signup_links (
    workspace_id text NOT NULL,
    secret_hash text NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint NOT NULL,
    claimed_ms bigint,
    asked_from text DEFAULT ''::text NOT NULL,
    mail_hash text,
    decision text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.stored_bytes (
    workspace_id text NOT NULL,
    day bigint NOT NULL,
    bytes bigint NOT NULL
);
CREATE TABLE public.streams (
    workspace_id text NOT NULL,
    stream_id text NOT NULL,
    seq bigint NOT NULL,
    hash text NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.tenants (
    workspace_id text NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    created_ms bigint NOT NULL
);
CREATE TABLE public.used_nonces (
    workspace_id text NOT NULL,
    nonce_hash text NOT NULL,
    expires_ms bigint NOT NULL
);
CREATE TABLE public.used_sign_in_states (
    workspace_id text NOT NULL,
    state_hash text NOT NULL,
    expires_ms bigint NOT NULL
);
CREATE TABLE public.vault_keys (
    workspace_id text NOT NULL,
    sealed_by text NOT NULL,
    sealed text NOT NULL,
    made_ms bigint NOT NULL
);
CREATE TABLE public.vault_secrets (
    workspace_id text NOT NULL,
    holder text NOT NULL,
    field text NOT NULL,
    sealed text NOT NULL,
    changed_ms bigint NOT NULL
);
CREATE TABLE public.webhook_deliveries (
    workspace_id text NOT NULL,
    delivery_id text NOT NULL,
    run_id text NOT NULL,
    type text NOT NULL,
    url text NOT NULL,
    body text NOT NULL,
    state text NOT NULL,
    tries bigint NOT NULL,
    resends bigint NOT NULL,
    next_try_ms bigint,
    created_ms bigint NOT NULL,
    ended_ms bigint,
    subscription_id text DEFAULT ''::text NOT NULL,
    action_id text DEFAULT ''::text NOT NULL,
    CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text])))
);
CREATE TABLE public.webhook_subscriptions (
    workspace_id text NOT NULL,
    subscription_id text NOT NULL,
    url text NOT NULL,
    events text NOT NULL,
    enabled bigint NOT NULL,
    created_by text NOT NULL,
    created_ms bigint NOT NULL,
    delivered_ms bigint,
    failing_since_ms bigint
);
CREATE TABLE public.webhook_tries (
    workspace_id text NOT NULL,
    delivery_id text NOT NULL,
    number bigint NOT NULL,
    at_ms bigint NOT NULL,
    duration_ms bigint NOT NULL,
    outcome text NOT NULL,
    status bigint,
    detail text NOT NULL
);
CREATE TABLE public.workflow_answers (
    workspace_id text NOT NULL,
    run_id text NOT NULL,
    node bigint NOT NULL,
    edge text NOT NULL,
    child bigint,
    answer text NOT NULL,
    text text NOT NULL,
    created_ms bigint NOT NULL
);
CREATE TABLE public.workflow_checkpoints (
    workspace_id text NOT NULL,
    run_id text NOT NULL,
    node bigint NOT NULL,
    digest text NOT NULL,
    notes text NOT NULL,
    event_seq bigint NOT NULL,
    created_ms bigint NOT NULL
);
CREATE TABLE public.workflow_confirmations (
    workspace_id text NOT NULL,
    run_id text NOT NULL,
    node bigint NOT NULL,
    content text NOT NULL,
    step_key text NOT NULL,
    action_id text NOT NULL,
    event_seq bigint NOT NULL
);
CREATE TABLE public.workflow_nodes (
    workspace_id text NOT NULL,
    run_id text NOT NULL,
    node bigint NOT NULL,
    parent bigint,
    step_key text NOT NULL,
    title text NOT NULL,
    notes text NOT NULL,
    artifacts text NOT NULL,
    snapshot text NOT NULL,
    is_complete bigint NOT NULL,
    children bigint NOT NULL,
    event_seq bigint NOT NULL,
    created_ms bigint NOT NULL,
    next_edge text,
    next_node bigint,
    next_state text,
    next_ack text
);
CREATE TABLE public.workflow_programs (
    workspace_id text NOT NULL,
    workflow_hash text NOT NULL,
    workflow_id text NOT NULL,
    program text NOT NULL,
    created_ms bigint NOT NULL
);
CREATE TABLE public.workflow_runs (
    workspace_id text NOT NULL,
    run_id text NOT NULL,
    session_id text NOT NULL,
    workflow_id text NOT NULL,
    workflow_hash text NOT NULL,
    name text NOT NULL,
    nodes bigint NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    series bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.workflow_session_notes (
    workspace_id text NOT NULL,
    session_id text NOT NULL,
    note_id text NOT NULL,
    author text NOT NULL,
    notes text NOT NULL,
    created_ms bigint NOT NULL
);
CREATE TABLE public.workflow_sessions (
    workspace_id text NOT NULL,
    session_id text NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL
);
CREATE TABLE public.workspace_brands (
    workspace_id text NOT NULL,
    accent text NOT NULL,
    logo_digest text NOT NULL
);
CREATE TABLE public.workspace_policies (
    workspace_id text NOT NULL,
    policy text NOT NULL
);
CREATE TABLE public.workspaces (
    workspace_id text NOT NULL,
    name text NOT NULL,
    email text,
    created_ms bigint NOT NULL,
    webhook_hosts text,
    calls_per_minute bigint,
    signed_up integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.wrap_calls (
    workspace_id text NOT NULL,
    holder text NOT NULL,
    call text NOT NULL,
    generation bigint NOT NULL,
    action_id text NOT NULL
);
CREATE TABLE public.wrap_observed (
    workspace_id text NOT NULL,
    server text NOT NULL,
    tool text NOT NULL,
    argument text NOT NULL,
    beginning text NOT NULL,
    calls bigint NOT NULL,
    last_ms bigint NOT NULL
);
CREATE TABLE public.wrap_profiles (
    workspace_id text NOT NULL,
    profile_id text NOT NULL,
    used_ms bigint NOT NULL
);
CREATE TABLE public.wrap_rules (
    workspace_id text NOT NULL,
    name text NOT NULL,
    body text NOT NULL,
    seal text NOT NULL,
    set_by text NOT NULL,
    set_ms bigint NOT NULL,
    used bigint NOT NULL,
    last_ms bigint
);
CREATE TABLE public.wrap_tools (
    workspace_id text NOT NULL,
    server text NOT NULL,
    tool text NOT NULL,
    pin text NOT NULL,
    definition text NOT NULL,
    accepted_ms bigint NOT NULL,
    hinted bigint DEFAULT 0 NOT NULL
);
INSERT INTO public.actions (workspace_id, action_id, run_id, tenant_id, asset_id, "position", version, effect, digest, revision, executor_tool, status, execution_state, preflight, created_ms, expires_ms, schedule_ms, approval, rejection, attempt, executed_ms, external_id, external_url, metadata, risk, view, proposed_by, held) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-77f4-81d7-6884207964f2', '01a1f072-7a87-73ea-a307-2faca9e30882', NULL, '01a1f072-7a87-796f-977b-d8c911d69ae4', 0, 4, '{"channel":"site","verb":"publish","connector":"site","body":"The tide table is out.","title":"Tides"}', 'sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61', 1, 'chieflab_publish_approved_post', 'executed', 'done', '{"severity":"low","warnings":[],"recommendations":[],"gates":["human_approval"],"connectorReady":true,"connectorBlocker":null,"connectorFixHint":null,"estimatedCostCredits":0}', 1795035396743, 1797627396743, NULL, '{"by":"key:691af373c97b8496","atMs":1795035396864,"assurance":"agent","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","approvers":1,"since":1,"personId":"","policy":"sha256:97c6f752e048eb23abb08e61dfa10c30d2e5a87fc73058ccf4b639363eaa9971","voices":[{"approver":"key:691af373c97b8496","assurance":"agent","atMs":1795035396864}],"observed":{"credits":0},"claimed":null,"mac":"8bjGhqvhKSSpUhyOPXEBhrNedyZ-FKDgix_BNPfW8rY"}', NULL, '{"attempt_id":"01a1f072-7b67-764b-97a4-3527e6526811","fence":1,"started_ms":1795035396967,"lease_until_ms":1795035456967,"tool":"chieflab_execute_approved_action","key":null,"request_digest":null,"holder":null,"leased_ms":0,"barred_until_ms":0,"restored":false,"lost_by_restore":false}', 1795035397014, 'tides-7de802bee9e7', 'http://127.0.0.1:36935/feed/00000000-0000-7000-8000-000000000001/tides-7de802bee9e7', '{"measureAfterMs":1000,"proposal":{"operator":"chieflab-post","caller":"key:691af373c97b8496","label":"release"},"name":"site","observed":{"credits":0}}', 2, '{"label":"Site","noun":"Your site post","commonNoun":true,"sentence":"Publishes this on your own site, where everybody can read it.","destination":"To Your site","place":"the public feed of this server, http://127.0.0.1:36935/feed/00000000-0000-7000-8000-000000000001/","summary":"Tides","outcome":"Published: Site.","done":"Published","risk":"low","why":"It is public on your site; you can remove it.","via":"Own site","facets":{},"without":["recipients","amount","arguments"],"fields":[{"name":"title","label":"Title","most":300,"used":5},{"name":"body","label":"Text","many":true,"most":100000,"used":22}],"preview":{"kind":"page"},"hasAddress":true,"takesPicture":true,"sendsLink":true,"measured":true,"countsVisits":true,"again":{"tool":"chieflab_post","when":"the user wants another version","args":{"channel":"site"},"needs":{"body":"the new text"},"inRun":true},"undo":{"leaves":"Whoever has read it has read it, and search engines may keep a copy."},"receipt":"postId"}', 'key:691af373c97b8496', 0);
INSERT INTO public.actions (workspace_id, action_id, run_id, tenant_id, asset_id, "position", version, effect, digest, revision, executor_tool, status, execution_state, preflight, created_ms, expires_ms, schedule_ms, approval, rejection, attempt, executed_ms, external_id, external_url, metadata, risk, view, proposed_by, held) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7fe6-7ed3-94dc-03272850d35e', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', NULL, '01a1f072-7fe6-7ae6-9666-b497f91fe2e6', 0, 2, '{"channel":"site","verb":"publish","connector":"site","body":"The winds turned.","title":"Winds"}', 'sha256:c6e2146ef0318aaf0b2c25809041b45abf1745465e4adc45f1f488b42ee7704a', 1, 'chieflab_publish_approved_post', 'rejected', 'none', '{"severity":"low","warnings":[],"recommendations":[],"gates":["human_approval"],"connectorReady":true,"connectorBlocker":null,"connectorFixHint":null,"estimatedCostCredits":0}', 1795035398118, 1797627398118, NULL, NULL, 'Too short, say where.', NULL, NULL, NULL, NULL, '{"measureAfterMs":1000,"proposal":{"operator":"chieflab-post","caller":"key:691af373c97b8496","label":"release"},"name":"site","observed":{"credits":0}}', 2, '{"label":"Site","noun":"Your site post","commonNoun":true,"sentence":"Publishes this on your own site, where everybody can read it.","destination":"To Your site","place":"the public feed of this server, http://127.0.0.1:36935/feed/00000000-0000-7000-8000-000000000001/","summary":"Winds","outcome":"Published: Site.","done":"Published","risk":"low","why":"It is public on your site; you can remove it.","via":"Own site","facets":{},"without":["recipients","amount","arguments"],"fields":[{"name":"title","label":"Title","most":300,"used":5},{"name":"body","label":"Text","many":true,"most":100000,"used":17}],"preview":{"kind":"page"},"hasAddress":true,"takesPicture":true,"sendsLink":true,"measured":true,"countsVisits":true,"again":{"tool":"chieflab_post","when":"the user wants another version","args":{"channel":"site"},"needs":{"body":"the new text"},"inRun":true},"undo":{"leaves":"Whoever has read it has read it, and search engines may keep a copy."},"receipt":"postId"}', 'key:691af373c97b8496', 0);
INSERT INTO public.actions (workspace_id, action_id, run_id, tenant_id, asset_id, "position", version, effect, digest, revision, executor_tool, status, execution_state, preflight, created_ms, expires_ms, schedule_ms, approval, rejection, attempt, executed_ms, external_id, external_url, metadata, risk, view, proposed_by, held) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-804e-7fe5-89f2-f130e19bb1cf', '01a1f072-804e-7550-9728-67e2a08f5721', NULL, '01a1f072-804e-7944-b046-3ab54988afb2', 0, 1, '{"channel":"site","verb":"publish","connector":"site","body":"The stars are out tonight.","title":"Stars"}', 'sha256:0d9a75c5aa882baecd83a21978ac9c124f543cde74006f66cc3f832ae787a669', 1, 'chieflab_publish_approved_post', 'awaiting_approval', 'none', '{"severity":"low","warnings":[],"recommendations":["Asked before: “Too short, say where.”"],"gates":["human_approval"],"connectorReady":true,"connectorBlocker":null,"connectorFixHint":null,"estimatedCostCredits":0}', 1795035398222, 1797627398222, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"measureAfterMs":1000,"proposal":{"operator":"chieflab-post","caller":"key:691af373c97b8496","label":"release"},"name":"site","observed":{"credits":0}}', 2, '{"label":"Site","noun":"Your site post","commonNoun":true,"sentence":"Publishes this on your own site, where everybody can read it.","destination":"To Your site","place":"the public feed of this server, http://127.0.0.1:36935/feed/00000000-0000-7000-8000-000000000001/","summary":"Stars","outcome":"Published: Site.","done":"Published","risk":"low","why":"It is public on your site; you can remove it.","via":"Own site","facets":{},"without":["recipients","amount","arguments"],"fields":[{"name":"title","label":"Title","most":300,"used":5},{"name":"body","label":"Text","many":true,"most":100000,"used":26}],"preview":{"kind":"page"},"hasAddress":true,"takesPicture":true,"sendsLink":true,"measured":true,"countsVisits":true,"again":{"tool":"chieflab_post","when":"the user wants another version","args":{"channel":"site"},"needs":{"body":"the new text"},"inRun":true},"undo":{"leaves":"Whoever has read it has read it, and search engines may keep a copy."},"receipt":"postId"}', 'key:691af373c97b8496', 0);
INSERT INTO public.api_keys (workspace_id, key_id, mode, secret_hash, label, scopes, created_ms, expires_ms, revoked_ms, first_key_id, toolsets, client_dialog, person_id, client) VALUES ('00000000-0000-7000-8000-000000000001', '691af373c97b8496', 'live', '5342015aa61d468eed9769dcf497f92f8113037dfa42604b0f2809f7821f101b', 'release', 'runs:write actions:decide actions:execute', 1795035394945, NULL, NULL, NULL, '', 1, NULL, NULL);
INSERT INTO public.assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-796f-977b-d8c911d69ae4', '01a1f072-7a87-73ea-a307-2faca9e30882', NULL, 'site', 'Tides', 'The tide table is out.', 'site', '{"source":"agent","claims":[],"preheader":"","parts":[],"memoryUsed":[],"warnings":[]}', 1795035396743);
INSERT INTO public.assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7f91-7840-86aa-9c34e2a5ef97', '01a1f072-7a87-73ea-a307-2faca9e30882', NULL, 'measurement', 'What became of it', 'Site: 0 views, 0 clicks

Next: Check that it can be found on Site, and measure again later. Site: 0 views, 0 clicks.', NULL, '{"measurement":{"measuredAt":"2026-11-18T20:56:38.033Z","sources":[{"source":"site","channel":"site","status":"ok","metrics":{"views":0,"clicks":0},"reason":null,"leftOut":[]}],"totals":{"views":0.0,"clicks":0.0},"baseline":[],"nextMove":{"move":"Check that it can be found on Site, and measure again later.","why":"Site: 0 views, 0 clicks.","channel":"site"}}}', 1795035398033);
INSERT INTO public.assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7fe6-7ae6-9666-b497f91fe2e6', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', NULL, 'site', 'Winds', 'The winds turned.', 'site', '{"source":"agent","claims":[],"preheader":"","parts":[],"memoryUsed":[],"warnings":[]}', 1795035398118);
INSERT INTO public.assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, channel, metadata, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-804e-7944-b046-3ab54988afb2', '01a1f072-804e-7550-9728-67e2a08f5721', NULL, 'site', 'Stars', 'The stars are out tonight.', 'site', '{"source":"agent","claims":[],"preheader":"","parts":[],"memoryUsed":[{"entryId":"01a1f072-8024-7f6d-a0fc-5c13f582bd43","kind":"rejection","how":"Asked before: “Too short, say where.”"}],"warnings":[]}', 1795035398222);
INSERT INTO public.callers_seen (workspace_id, caller, seen_ms) VALUES ('00000000-0000-7000-8000-000000000001', 'key:691af373c97b8496', 1795035395663);
INSERT INTO public.component_versions (component, version, name, prefix, applied_at, digest) VALUES ('launch', 1, 'launch', 'launch_', 1795035386396, '93db699bf0951c1b846cdb9a0b264f0d1297342d0c6f58e5137ad575ee033b53');
INSERT INTO public.component_versions (component, version, name, prefix, applied_at, digest) VALUES ('wrap', 1, 'wrap', 'wrap_', 1795035386396, 'a10ed29d54fe847b38f870143cb0d92f7cba11867807849e585befefa93ae541');
INSERT INTO public.deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'run_token', 'f46228b81338027b');
INSERT INTO public.deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'master', '392d58255cfa27e4');
INSERT INTO public.deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'server history', '{"system":"7709618150665040557","timeline":1,"synchronous":false,"database":"16384"}');
INSERT INTO public.deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'deployment', '2db3f9f9203de7b4');
INSERT INTO public.deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'head 538893feead77bc1', '7');
INSERT INTO public.deployment_facts (workspace_id, name, value) VALUES ('00000000-0000-7000-8000-000000000000', 'journal position', 'ce16f5a044bb463ab196c8a44adce0e5');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000001', 1, 'workspace_created', 1795035386897, '{"by":"first start","name":"local"}', '36f88b311a4d35b2bf0cdd9ea9c595cbc504c0b1bd8cb776c6bf071540c27250');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000001', 2, 'key_issued', 1795035394945, '{"by":"cli","keyId":"691af373c97b8496","label":"release","mode":"live","scopes":["runs:write","actions:decide","actions:execute"]}', 'f46d80f133d77f99b12751a2c78ff06dba5995ba642ac1389a7000c3e6c7990e');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-73ea-a307-2faca9e30882', 1, 'run_prepared', 1795035396743, '{"actions":[{"actionId":"01a1f072-7a87-77f4-81d7-6884207964f2","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","severity":"low","type":"site_publish","view":"sha256:ffbf97bb1b0c211a90a122f47366badc284bb8782deaf8f1e21a0373fca76a8a"}],"assets":["01a1f072-7a87-796f-977b-d8c911d69ae4"],"by":"key:691af373c97b8496","operator":"chieflab-post","tool":"chieflab_post"}', 'b28c0c4a006a70b9d95746d44144e73daaa931b22d559fa583cbfe2ef5966f9d');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-73ea-a307-2faca9e30882', 2, 'action_approve', 1795035396864, '{"actionId":"01a1f072-7a87-77f4-81d7-6884207964f2","approvers":1,"assurance":"agent","by":"key:691af373c97b8496","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","needed":1,"policy":"sha256:97c6f752e048eb23abb08e61dfa10c30d2e5a87fc73058ccf4b639363eaa9971","revision":1,"severity":"low","status":"approved","via":"chat"}', 'fbfb15b319ecc9c6469df999df633df7693eb32d92cdf64a34c4d0a4af9a8e70');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-73ea-a307-2faca9e30882', 3, 'action_claim', 1795035396967, '{"actionId":"01a1f072-7a87-77f4-81d7-6884207964f2","attemptId":"01a1f072-7b67-764b-97a4-3527e6526811","by":"key:691af373c97b8496","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","fence":1,"leaseUntil":"2026-11-18T20:57:36.967Z","providerKey":"01a1f072-7a87-77f4-81d7-6884207964f2:1","revision":1,"status":"approved"}', 'f0c44ce203942c5d54a7c400bb8590e99d19784b8a1d8a173e08630da0b8075a');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-73ea-a307-2faca9e30882', 4, 'action_succeed', 1795035397014, '{"actionId":"01a1f072-7a87-77f4-81d7-6884207964f2","attemptId":"01a1f072-7b67-764b-97a4-3527e6526811","detail":"","digest":"sha256:744c686943afc52c7b70f629c16e1fa0583202d022405c8ce44ae0b9a18c0d61","evidence":{"publishedAt":"2026-11-18T20:56:37.003Z"},"externalId":"tides-7de802bee9e7","externalUrl":"http://127.0.0.1:36935/feed/00000000-0000-7000-8000-000000000001/tides-7de802bee9e7","outcome":"delivered","revision":1,"status":"executed"}', '7467e8a584520adedd8f21e33616790ccb622de305d87c8438f1bfafa6d494e6');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-73ea-a307-2faca9e30882', 5, 'run_measured', 1795035398033, '{"assetId":"01a1f072-7f91-7840-86aa-9c34e2a5ef97","by":"schedule","totals":{"clicks":0.0,"views":0.0}}', '27369157eb905afc50445e7ada464bc8d10ea49b93611c757c76a889e8850f20');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', 1, 'run_prepared', 1795035398118, '{"actions":[{"actionId":"01a1f072-7fe6-7ed3-94dc-03272850d35e","digest":"sha256:c6e2146ef0318aaf0b2c25809041b45abf1745465e4adc45f1f488b42ee7704a","severity":"low","type":"site_publish","view":"sha256:ef647f8456edbb4007475c3fa809dc14e2ee215b58fcaa7068c139232e474eb9"}],"assets":["01a1f072-7fe6-7ae6-9666-b497f91fe2e6"],"by":"key:691af373c97b8496","operator":"chieflab-post","tool":"chieflab_post"}', '82b1b0d2686bb3a2830b3cac6db241f48707d61c5e20a65e7d4c49b86991b510');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', 2, 'action_reject', 1795035398180, '{"actionId":"01a1f072-7fe6-7ed3-94dc-03272850d35e","assurance":"agent","by":"key:691af373c97b8496","digest":"sha256:c6e2146ef0318aaf0b2c25809041b45abf1745465e4adc45f1f488b42ee7704a","policy":"sha256:97c6f752e048eb23abb08e61dfa10c30d2e5a87fc73058ccf4b639363eaa9971","reason":"Too short, say where.","revision":1,"status":"rejected","via":"chat"}', '899eba738df96dd8e35b87198333628665c6f15b8c4cd90c6fdece550f06d6b0');
INSERT INTO public.events (workspace_id, stream_id, seq, kind, at_ms, body, hash) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-804e-7550-9728-67e2a08f5721', 1, 'run_prepared', 1795035398222, '{"actions":[{"actionId":"01a1f072-804e-7fe5-89f2-f130e19bb1cf","digest":"sha256:0d9a75c5aa882baecd83a21978ac9c124f543cde74006f66cc3f832ae787a669","severity":"low","type":"site_publish","view":"sha256:2351fb55ccd49c115c4dc78fac04f0b072403ba5ab5d46693b665bb0ff5e9c98"}],"assets":["01a1f072-804e-7944-b046-3ab54988afb2"],"by":"key:691af373c97b8496","operator":"chieflab-post","tool":"chieflab_post"}', '826fecb623d2cb96c97d13f77932316b139a604cd67eddb0d5d46dcc14626a05');
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-5e89-74f9-8b3d-269d3fbbbf60', 'remind_people', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035389577, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-5f66-7de4-854c-5313c162840d', 'forget_reminders', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035389798, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-5f8e-73f6-8577-8f3b8779a2d8', 'forget_notifications', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035389838, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-5f93-7422-8dbe-5d9b167d5a73', 'forget_webhook_deliveries', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035389843, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-5f9b-73e3-8a60-5716dab34a18', 'write_audit_checkpoint', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035389851, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-5fd6-7296-81e9-fbcef63aee5b', 'forget_signup_links', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035389910, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-5fe4-7fb7-ab58-fe92d1a910c7', 'forget_sign_ins', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035389924, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-6013-7642-9bbd-a301bde2a1e1', 'forget_clients', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035389971, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-6029-7d48-b3b4-cbfa3770cf7f', 'forget_idempotency_keys', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035389993, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-6045-76f8-bc23-746283d42c26', 'forget_pictures', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035390021, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-6054-753a-bdfd-dbe3deb42be1', 'forget_old_sessions', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035390036, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-6057-7e6a-b242-910429721c74', 'erase_old_content', '1795046400000', '{}', 1795046400000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035390039, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000000', '01a1f072-605b-7dc7-a9fd-85b4e45fd8f2', 'forget_finished_jobs', '1795035600000', '{}', 1795035600000, 'waiting', 0, NULL, 0, NULL, NULL, 1795035390043, NULL, 0);
INSERT INTO public.jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, lease_until_ms, fence, worker, last_error, created_ms, finished_ms, lost) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7b96-7923-b080-e39b802a28b7', 'measure_run', '01a1f072-7a87-73ea-a307-2faca9e30882', '{"runId":"01a1f072-7a87-73ea-a307-2faca9e30882"}', 1795035398014, 'done', 1, NULL, 1, 'release', NULL, 1795035397014, 1795035398033, 0);
INSERT INTO public.launch_brain_entries (workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, natural_key, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7b00-7436-a392-0673280584ef', 'default', 'approval', 'Approved for site: The tide table is out.', 'confirmed', 'a decision', 'site', '01a1f072-7a87-73ea-a307-2faca9e30882', '01a1f072-7a87-77f4-81d7-6884207964f2', '{"by":"key:691af373c97b8496","assurance":"agent","revision":1,"text":"The tide table is out."}', 'approval:01a1f072-7a87-77f4-81d7-6884207964f2:1', 1795035396864);
INSERT INTO public.launch_brain_entries (workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, natural_key, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7f91-7251-881f-2b2058c00228', 'default', 'channel_performance', '“Tides”: Site: 0 views, 0 clicks.', 'confirmed', 'site', 'site', '01a1f072-7a87-73ea-a307-2faca9e30882', NULL, '{"metrics":{"views":0,"clicks":0}}', 'performance:01a1f072-7f91-7840-86aa-9c34e2a5ef97:0', 1795035398033);
INSERT INTO public.launch_brain_entries (workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, action_id, facts, natural_key, created_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-8024-7f6d-a0fc-5c13f582bd43', 'default', 'rejection', 'Rejected for site: Too short, say where.', 'confirmed', 'a decision', 'site', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', '01a1f072-7fe6-7ed3-94dc-03272850d35e', '{"by":"key:691af373c97b8496","assurance":"agent","revision":1,"text":"The winds turned.","reason":"Too short, say where."}', 'rejection:01a1f072-7fe6-7ed3-94dc-03272850d35e:1', 1795035398180);
INSERT INTO public.launch_measurements (workspace_id, run_id, tenant_id, asset_id, due_ms, measured_ms, body) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-73ea-a307-2faca9e30882', 'default', '01a1f072-7f91-7840-86aa-9c34e2a5ef97', 1795035398014, 1795035398033, '{"measuredAt":"2026-11-18T20:56:38.033Z","sources":[{"source":"site","channel":"site","status":"ok","metrics":{"views":0,"clicks":0},"reason":null,"leftOut":[]}],"totals":{"views":0.0,"clicks":0.0},"baseline":[],"nextMove":{"move":"Check that it can be found on Site, and measure again later.","why":"Site: 0 views, 0 clicks.","channel":"site"}}');
INSERT INTO public.launch_memory_uses (workspace_id, entry_id, asset_id, run_id) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-8024-7f6d-a0fc-5c13f582bd43', '01a1f072-804e-7944-b046-3ab54988afb2', '01a1f072-804e-7550-9728-67e2a08f5721');
INSERT INTO public.launch_site_posts (workspace_id, action_id, revision, post_id, title, body, link, media, published_ms, removed_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-77f4-81d7-6884207964f2', 1, 'tides-7de802bee9e7', 'Tides', 'The tide table is out.', '', '[]', 1795035397003, NULL);
INSERT INTO public.rate_windows (workspace_id, bucket, slots) VALUES ('00000000-0000-7000-8000-000000000001', 'calls:', '{"1795035395": 1, "1795035396": 2, "1795035397": 4, "1795035398": 4}');
INSERT INTO public.runs (workspace_id, run_id, tenant_id, operator, tool, inputs, outputs, status, parent_run_id, created_ms, links_from_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-73ea-a307-2faca9e30882', NULL, 'chieflab-post', 'chieflab_post', '{"channel":"site","body":"The tide table is out.","title":"Tides"}', '{}', 'prepared', NULL, 1795035396743, 0);
INSERT INTO public.runs (workspace_id, run_id, tenant_id, operator, tool, inputs, outputs, status, parent_run_id, created_ms, links_from_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', NULL, 'chieflab-post', 'chieflab_post', '{"channel":"site","body":"The winds turned.","title":"Winds"}', '{}', 'prepared', NULL, 1795035398118, 0);
INSERT INTO public.runs (workspace_id, run_id, tenant_id, operator, tool, inputs, outputs, status, parent_run_id, created_ms, links_from_ms) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-804e-7550-9728-67e2a08f5721', NULL, 'chieflab-post', 'chieflab_post', '{"channel":"site","body":"The stars are out tonight.","title":"Stars"}', '{}', 'prepared', NULL, 1795035398222, 0);
INSERT INTO public.schema_versions (version, name, applied_at, digest) VALUES (1, 'baseline', 1795035386396, '2c16c34e4301b34706fada71d5f8b4da35212fea0c32e234461d74dccd15a793');
INSERT INTO public.search_texts (workspace_id, item_id, run_id, about, body) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-73ea-a307-2faca9e30882', '01a1f072-7a87-73ea-a307-2faca9e30882', ' Tides ', 'chieflab-post 01a1f072-7a87-73ea-a307-2faca9e30882 site The tide table is out. Tides');
INSERT INTO public.search_texts (workspace_id, item_id, run_id, about, body) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-77f4-81d7-6884207964f2', '01a1f072-7a87-73ea-a307-2faca9e30882', ' Tides  release', 'Site Your site post  To Your site Tides The tide table is out.');
INSERT INTO public.search_texts (workspace_id, item_id, run_id, about, body) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', ' Winds ', 'chieflab-post 01a1f072-7fe6-71fb-b571-5639b0ca2e34 site The winds turned. Winds');
INSERT INTO public.search_texts (workspace_id, item_id, run_id, about, body) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7fe6-7ed3-94dc-03272850d35e', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', ' Winds  release', 'Site Your site post  To Your site Winds The winds turned.');
INSERT INTO public.search_texts (workspace_id, item_id, run_id, about, body) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-804e-7550-9728-67e2a08f5721', '01a1f072-804e-7550-9728-67e2a08f5721', ' Stars ', 'chieflab-post 01a1f072-804e-7550-9728-67e2a08f5721 site The stars are out tonight. Stars');
INSERT INTO public.search_texts (workspace_id, item_id, run_id, about, body) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-804e-7fe5-89f2-f130e19bb1cf', '01a1f072-804e-7550-9728-67e2a08f5721', ' Stars  release', 'Site Your site post  To Your site Stars The stars are out tonight.');
INSERT INTO public.stored_bytes (workspace_id, day, bytes) VALUES ('00000000-0000-7000-8000-000000000001', 20775, 11545);
INSERT INTO public.streams (workspace_id, stream_id, seq, hash, updated_at) VALUES ('00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000001', 2, 'f46d80f133d77f99b12751a2c78ff06dba5995ba642ac1389a7000c3e6c7990e', 1795035386897);
INSERT INTO public.streams (workspace_id, stream_id, seq, hash, updated_at) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7a87-73ea-a307-2faca9e30882', 5, '27369157eb905afc50445e7ada464bc8d10ea49b93611c757c76a889e8850f20', 1795035396743);
INSERT INTO public.streams (workspace_id, stream_id, seq, hash, updated_at) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-7fe6-71fb-b571-5639b0ca2e34', 2, '899eba738df96dd8e35b87198333628665c6f15b8c4cd90c6fdece550f06d6b0', 1795035398118);
INSERT INTO public.streams (workspace_id, stream_id, seq, hash, updated_at) VALUES ('00000000-0000-7000-8000-000000000001', '01a1f072-804e-7550-9728-67e2a08f5721', 1, '826fecb623d2cb96c97d13f77932316b139a604cd67eddb0d5d46dcc14626a05', 1795035398222);
INSERT INTO public.workspaces (workspace_id, name, email, created_ms, webhook_hosts, calls_per_minute, signed_up) VALUES ('00000000-0000-7000-8000-000000000001', 'local', NULL, 1795035386897, NULL, NULL, 0);
ALTER TABLE ONLY public.action_approvals
    ADD CONSTRAINT action_approvals_pkey PRIMARY KEY (workspace_id, action_id, revision, approver);
ALTER TABLE ONLY public.action_recipients
    ADD CONSTRAINT action_recipients_pkey PRIMARY KEY (workspace_id, action_id, address);
ALTER TABLE ONLY public.action_revisions
    ADD CONSTRAINT action_revisions_pkey PRIMARY KEY (workspace_id, action_id, revision);
ALTER TABLE ONLY public.actions
    ADD CONSTRAINT actions_pkey PRIMARY KEY (workspace_id, action_id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (workspace_id, key_id);
ALTER TABLE ONLY public.assets
    ADD CONSTRAINT assets_pkey PRIMARY KEY (workspace_id, asset_id);
ALTER TABLE ONLY public.brand_logos
    ADD CONSTRAINT brand_logos_pkey PRIMARY KEY (workspace_id, logo_digest);
ALTER TABLE ONLY public.callers_seen
    ADD CONSTRAINT callers_seen_pkey PRIMARY KEY (workspace_id, caller);
ALTER TABLE ONLY public.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (workspace_id, number);
ALTER TABLE ONLY public.client_grants
    ADD CONSTRAINT client_grants_pkey PRIMARY KEY (workspace_id, key_id);
ALTER TABLE ONLY public.component_versions
    ADD CONSTRAINT component_versions_pkey PRIMARY KEY (component, version);
ALTER TABLE ONLY public.connections
    ADD CONSTRAINT connections_pkey PRIMARY KEY (workspace_id, provider);
ALTER TABLE ONLY public.deployment_facts
    ADD CONSTRAINT deployment_facts_pkey PRIMARY KEY (workspace_id, name);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (workspace_id, stream_id, seq);
ALTER TABLE ONLY public.freezes
    ADD CONSTRAINT freezes_pkey PRIMARY KEY (workspace_id, agent);
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (workspace_id, tool, key);
ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (workspace_id, issuer, subject);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (workspace_id, job_id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_workspace_id_kind_key_key UNIQUE (workspace_id, kind, key);
ALTER TABLE ONLY public.launch_brain_entries
    ADD CONSTRAINT launch_brain_entries_pkey PRIMARY KEY (workspace_id, entry_id);
ALTER TABLE ONLY public.launch_brain_entries
    ADD CONSTRAINT launch_brain_entries_workspace_id_natural_key_key UNIQUE (workspace_id, natural_key);
ALTER TABLE ONLY public.launch_credit_accounts
    ADD CONSTRAINT launch_credit_accounts_pkey PRIMARY KEY (workspace_id);
ALTER TABLE ONLY public.launch_credit_charges
    ADD CONSTRAINT launch_credit_charges_pkey PRIMARY KEY (workspace_id, action_id);
ALTER TABLE ONLY public.launch_credit_entries
    ADD CONSTRAINT launch_credit_entries_pkey PRIMARY KEY (workspace_id, seq);
ALTER TABLE ONLY public.launch_manual_metrics
    ADD CONSTRAINT launch_manual_metrics_pkey PRIMARY KEY (workspace_id, run_id, channel);
ALTER TABLE ONLY public.launch_measurements
    ADD CONSTRAINT launch_measurements_pkey PRIMARY KEY (workspace_id, run_id);
ALTER TABLE ONLY public.launch_memory_uses
    ADD CONSTRAINT launch_memory_uses_pkey PRIMARY KEY (workspace_id, entry_id, asset_id);
ALTER TABLE ONLY public.launch_site_posts
    ADD CONSTRAINT launch_site_posts_pkey PRIMARY KEY (workspace_id, action_id, revision);
ALTER TABLE ONLY public.launch_site_visits
    ADD CONSTRAINT launch_site_visits_pkey PRIMARY KEY (workspace_id, post_id, day, link);
ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (workspace_id, person_id);
ALTER TABLE ONLY public.notification_messages
    ADD CONSTRAINT notification_messages_pkey PRIMARY KEY (workspace_id, target_id, run_id);
ALTER TABLE ONLY public.notification_reminders
    ADD CONSTRAINT notification_reminders_pkey PRIMARY KEY (workspace_id, action_id, target_id, kind);
ALTER TABLE ONLY public.notification_targets
    ADD CONSTRAINT notification_targets_pkey PRIMARY KEY (workspace_id, target_id);
ALTER TABLE ONLY public.oauth_states
    ADD CONSTRAINT oauth_states_pkey PRIMARY KEY (workspace_id, state_hash);
ALTER TABLE ONLY public.oauth_turns
    ADD CONSTRAINT oauth_turns_pkey PRIMARY KEY (workspace_id, provider);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (workspace_id, credential_id);
ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_pkey PRIMARY KEY (workspace_id, person_id);
ALTER TABLE ONLY public.picture_uses
    ADD CONSTRAINT picture_uses_pkey PRIMARY KEY (workspace_id, run_id, digest);
ALTER TABLE ONLY public.pictures
    ADD CONSTRAINT pictures_pkey PRIMARY KEY (workspace_id, digest);
ALTER TABLE ONLY public.policy_versions
    ADD CONSTRAINT policy_versions_pkey PRIMARY KEY (workspace_id, version);
ALTER TABLE ONLY public.rate_windows
    ADD CONSTRAINT rate_windows_pkey PRIMARY KEY (workspace_id, bucket);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (workspace_id, run_id);
ALTER TABLE ONLY public.schema_versions
    ADD CONSTRAINT schema_versions_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.search_texts
    ADD CONSTRAINT search_texts_pkey PRIMARY KEY (workspace_id, item_id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (workspace_id, session_id);
ALTER TABLE ONLY public.sign_in_links
    ADD CONSTRAINT sign_in_links_pkey PRIMARY KEY (workspace_id, link_id);
ALTER TABLE ONLY public.signup_links
    ADD CONSTRAINT signup_links_pkey PRIMARY KEY (workspace_id);
ALTER TABLE ONLY public.stored_bytes
    ADD CONSTRAINT stored_bytes_pkey PRIMARY KEY (workspace_id, day);
ALTER TABLE ONLY public.streams
    ADD CONSTRAINT streams_pkey PRIMARY KEY (workspace_id, stream_id);
ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (workspace_id, tenant_id);
ALTER TABLE ONLY public.used_nonces
    ADD CONSTRAINT used_nonces_pkey PRIMARY KEY (workspace_id, nonce_hash);
ALTER TABLE ONLY public.used_sign_in_states
    ADD CONSTRAINT used_sign_in_states_pkey PRIMARY KEY (workspace_id, state_hash);
ALTER TABLE ONLY public.vault_keys
    ADD CONSTRAINT vault_keys_pkey PRIMARY KEY (workspace_id);
ALTER TABLE ONLY public.vault_secrets
    ADD CONSTRAINT vault_secrets_pkey PRIMARY KEY (workspace_id, holder, field);
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (workspace_id, delivery_id);
ALTER TABLE ONLY public.webhook_subscriptions
    ADD CONSTRAINT webhook_subscriptions_pkey PRIMARY KEY (workspace_id, subscription_id);
ALTER TABLE ONLY public.webhook_tries
    ADD CONSTRAINT webhook_tries_pkey PRIMARY KEY (workspace_id, delivery_id, number);
ALTER TABLE ONLY public.workflow_answers
    ADD CONSTRAINT workflow_answers_pkey PRIMARY KEY (workspace_id, run_id, node, edge);
ALTER TABLE ONLY public.workflow_checkpoints
    ADD CONSTRAINT workflow_checkpoints_pkey PRIMARY KEY (workspace_id, run_id, node, digest);
ALTER TABLE ONLY public.workflow_confirmations
    ADD CONSTRAINT workflow_confirmations_pkey PRIMARY KEY (workspace_id, run_id, node, content, action_id);
ALTER TABLE ONLY public.workflow_nodes
    ADD CONSTRAINT workflow_nodes_pkey PRIMARY KEY (workspace_id, run_id, node);
ALTER TABLE ONLY public.workflow_programs
    ADD CONSTRAINT workflow_programs_pkey PRIMARY KEY (workspace_id, workflow_hash);
ALTER TABLE ONLY public.workflow_runs
    ADD CONSTRAINT workflow_runs_pkey PRIMARY KEY (workspace_id, run_id);
ALTER TABLE ONLY public.workflow_session_notes
    ADD CONSTRAINT workflow_session_notes_pkey PRIMARY KEY (workspace_id, session_id, note_id);
ALTER TABLE ONLY public.workflow_sessions
    ADD CONSTRAINT workflow_sessions_pkey PRIMARY KEY (workspace_id, session_id);
ALTER TABLE ONLY public.workspace_brands
    ADD CONSTRAINT workspace_brands_pkey PRIMARY KEY (workspace_id);
ALTER TABLE ONLY public.workspace_policies
    ADD CONSTRAINT workspace_policies_pkey PRIMARY KEY (workspace_id);
ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT workspaces_pkey PRIMARY KEY (workspace_id);
ALTER TABLE ONLY public.wrap_calls
    ADD CONSTRAINT wrap_calls_pkey PRIMARY KEY (workspace_id, holder, call);
ALTER TABLE ONLY public.wrap_observed
    ADD CONSTRAINT wrap_observed_pkey PRIMARY KEY (workspace_id, server, tool, argument, beginning);
ALTER TABLE ONLY public.wrap_profiles
    ADD CONSTRAINT wrap_profiles_pkey PRIMARY KEY (workspace_id, profile_id);
ALTER TABLE ONLY public.wrap_rules
    ADD CONSTRAINT wrap_rules_pkey PRIMARY KEY (workspace_id, name);
ALTER TABLE ONLY public.wrap_tools
    ADD CONSTRAINT wrap_tools_pkey PRIMARY KEY (workspace_id, server, tool);
CREATE INDEX action_recipients_by_time ON public.action_recipients USING btree (workspace_id, at_ms, address);
CREATE INDEX actions_by_execution ON public.actions USING btree (executed_ms, action_id, workspace_id) WHERE (executed_ms IS NOT NULL);
CREATE INDEX actions_by_id ON public.actions USING btree (action_id);
CREATE INDEX actions_by_proposer ON public.actions USING btree (workspace_id, proposed_by, created_ms) WHERE ((status = 'awaiting_approval'::text) AND (proposed_by <> ''::text));
CREATE INDEX actions_by_risk ON public.actions USING btree (risk, expires_ms, action_id, workspace_id, status, revision, held, tenant_id) WHERE (status = 'awaiting_approval'::text);
CREATE INDEX actions_by_run ON public.actions USING btree (workspace_id, run_id, "position");
CREATE INDEX actions_by_state ON public.actions USING btree (workspace_id, run_id, status, execution_state, expires_ms);
CREATE INDEX actions_by_tenant ON public.actions USING btree (workspace_id, tenant_id, status, action_id);
CREATE INDEX actions_failed ON public.actions USING btree (workspace_id, action_id) WHERE (status = 'failed'::text);
CREATE INDEX actions_failed_anywhere ON public.actions USING btree (created_ms, action_id, workspace_id) WHERE (status = 'failed'::text);
CREATE INDEX actions_held ON public.actions USING btree (workspace_id, proposed_by, action_id, created_ms, expires_ms, held, status) WHERE ((held = 1) AND (status = 'awaiting_approval'::text));
CREATE INDEX actions_sent ON public.actions USING btree (workspace_id, executed_ms, action_id) WHERE ((executed_ms IS NOT NULL) AND (executor_tool <> 'workflow_advance'::text));
CREATE INDEX actions_unknown ON public.actions USING btree (workspace_id, action_id) WHERE (execution_state = 'outcome_unknown'::text);
CREATE INDEX actions_unsent ON public.actions USING btree (workspace_id, action_id) WHERE ((status = 'approved'::text) AND (executor_tool <> 'workflow_advance'::text));
CREATE INDEX actions_unsent_anywhere ON public.actions USING btree (action_id, workspace_id) WHERE ((status = 'approved'::text) AND (executor_tool <> 'workflow_advance'::text));
CREATE INDEX actions_waiting ON public.actions USING btree (workspace_id, action_id) WHERE ((status = 'awaiting_approval'::text) OR (execution_state = 'outcome_unknown'::text));
CREATE INDEX actions_waiting_anywhere ON public.actions USING btree (action_id, status, execution_state, expires_ms, workspace_id, revision, held) WHERE ((status = 'awaiting_approval'::text) OR (execution_state = 'outcome_unknown'::text));
CREATE INDEX actions_with_agent ON public.actions USING btree (action_id, workspace_id) WHERE ((held = 2) AND (status = 'awaiting_approval'::text));
CREATE INDEX assets_by_run ON public.assets USING btree (workspace_id, run_id, asset_id);
CREATE INDEX client_grants_by_end ON public.client_grants USING btree (ends_ms);
CREATE INDEX events_by_time ON public.events USING btree (workspace_id, at_ms, stream_id, seq, kind);
CREATE INDEX events_decided ON public.events USING btree (workspace_id, at_ms) WHERE (kind = ANY (ARRAY['action_approve'::text, 'action_reject'::text]));
CREATE INDEX idempotency_expiry ON public.idempotency USING btree (expires_at);
CREATE INDEX identities_by_person ON public.identities USING btree (workspace_id, person_id);
CREATE INDEX jobs_ahead ON public.jobs USING btree (ready_ms) WHERE ((ready_ms IS NOT NULL) AND ((state = 'running'::text) OR (attempts > 0) OR (kind <> 'measure_run'::text)));
CREATE INDEX jobs_by_end ON public.jobs USING btree (state, finished_ms) WHERE (finished_ms IS NOT NULL);
CREATE INDEX jobs_by_readiness ON public.jobs USING btree (ready_ms) WHERE (ready_ms IS NOT NULL);
CREATE INDEX launch_brain_by_kind ON public.launch_brain_entries USING btree (workspace_id, kind, entry_id);
CREATE INDEX launch_brain_by_tenant ON public.launch_brain_entries USING btree (workspace_id, tenant_id, kind, entry_id);
CREATE INDEX launch_brain_by_words ON public.launch_brain_entries USING gin (words);
CREATE INDEX launch_brain_lessons ON public.launch_brain_entries USING btree (workspace_id, entry_id) WHERE ((kind = ANY (ARRAY['channel_performance'::text, 'rejection'::text, 'lesson'::text])) AND (state <> 'retired'::text));
CREATE INDEX launch_measurements_by_tenant ON public.launch_measurements USING btree (workspace_id, tenant_id, measured_ms) WHERE (measured_ms IS NOT NULL);
CREATE INDEX launch_measurements_due ON public.launch_measurements USING btree (workspace_id, due_ms) WHERE (measured_ms IS NULL);
CREATE INDEX launch_measurements_due_of_tenant ON public.launch_measurements USING btree (workspace_id, tenant_id, due_ms) WHERE (measured_ms IS NULL);
CREATE INDEX launch_measurements_read ON public.launch_measurements USING btree (workspace_id, measured_ms) WHERE (measured_ms IS NOT NULL);
CREATE UNIQUE INDEX launch_site_posts_by_address ON public.launch_site_posts USING btree (workspace_id, post_id);
CREATE INDEX launch_site_posts_newest ON public.launch_site_posts USING btree (workspace_id, published_ms, post_id);
CREATE INDEX memberships_by_person ON public.memberships USING btree (person_id, workspace_id);
CREATE INDEX notification_messages_by_time ON public.notification_messages USING btree (sent_ms);
CREATE INDEX oauth_states_by_end ON public.oauth_states USING btree (workspace_id, expires_ms);
CREATE INDEX passkeys_by_person ON public.passkeys USING btree (workspace_id, person_id);
CREATE INDEX people_by_email ON public.people USING btree (workspace_id, lower(email));
CREATE INDEX picture_uses_by_picture ON public.picture_uses USING btree (workspace_id, digest, kept);
CREATE INDEX pictures_by_age ON public.pictures USING btree (created_ms);
CREATE INDEX runs_by_id ON public.runs USING btree (run_id);
CREATE INDEX search_texts_by_run ON public.search_texts USING btree (workspace_id, run_id);
CREATE INDEX search_texts_by_words ON public.search_texts USING gin (words);
CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_ms);
CREATE INDEX sessions_by_person ON public.sessions USING btree (workspace_id, person_id, created_ms);
CREATE INDEX sign_in_links_by_expiry ON public.sign_in_links USING btree (expires_ms);
CREATE INDEX signup_links_by_expiry ON public.signup_links USING btree (expires_ms);
CREATE INDEX streams_by_update ON public.streams USING btree (updated_at);
CREATE INDEX used_nonces_by_end ON public.used_nonces USING btree (expires_ms);
CREATE INDEX used_sign_in_states_by_end ON public.used_sign_in_states USING btree (workspace_id, expires_ms);
CREATE INDEX webhook_deliveries_by_age ON public.webhook_deliveries USING btree (created_ms);
CREATE INDEX webhook_deliveries_by_subscription ON public.webhook_deliveries USING btree (workspace_id, subscription_id, delivery_id) WHERE (subscription_id <> ''::text);
CREATE INDEX webhook_deliveries_queued ON public.webhook_deliveries USING btree (workspace_id, subscription_id) WHERE ((state = 'waiting'::text) AND (subscription_id <> ''::text));
CREATE INDEX workflow_runs_by_session ON public.workflow_runs USING btree (workspace_id, session_id, run_id);
CREATE INDEX workflow_sessions_by_age ON public.workflow_sessions USING btree (updated_ms);
