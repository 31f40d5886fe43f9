"""Every column of the server's own tables that can hold data of a person, and how it is erased.

A test compares this list with the schema: each column of text or bytes is in a place or in `HOLDS_NONE`.
Components list the places of their own tables (`assent.sql.components.Component.personal`).
"""

from __future__ import annotations

from typing import Final

from assent.sql.components import How, Place
from assent.sql.loader import statements

ACTIONS: Final = "actions"
EVENTS: Final = "events"
CONNECTIONS: Final = "connections"
PEOPLE: Final = "people"
PICTURES: Final = "pictures"
TARGETS: Final = "notification_targets"
SESSIONS: Final = frozenset(
    {
        "workflow_nodes",
        "workflow_answers",
        "workflow_checkpoints",
        "workflow_confirmations",
        "workflow_session_notes",
        "workflow_runs",
    }
)
"""Tables of workflow runs. A session that names the person is deleted whole: its steps are sealed."""

_IN_FLIGHT: Final = (
    "It is being sent, or its outcome is unknown: say on its page what happened, then erase again"
)
_POLICY: Final = "Write the policy without this name: assent policy set"
_RUN: Final = "workspace_id run_id"

PLACES: Final = (
    Place(
        ACTIONS,
        "workspace_id action_id",
        "effect preflight approval rejection attempt external_id external_url metadata view proposed_by",
        "actions",
        but={"effect": How.APART, "view": How.APART},
        advice=_IN_FLIGHT,
    ),
    Place(
        "action_revisions",
        "workspace_id action_id revision#",
        "effect view",
        "actions",
        how=How.APART,
        advice=_IN_FLIGHT,
    ),
    Place(
        "action_recipients",
        "workspace_id action_id address",
        "address",
        "recipients",
        how=How.DELETE,
    ),
    Place(
        "action_approvals",
        "workspace_id action_id revision# approver",
        "approver name",
        "approvals",
        how=How.DELETE,
    ),
    Place("runs", _RUN, "inputs outputs", "runs"),
    Place(
        "search_texts",
        "workspace_id item_id",
        "about body",
        "words to search by",
        how=How.DELETE,
        then=lambda: statements.merge_search_words(),
    ),
    Place("assets", "workspace_id asset_id", "title body metadata", "drafts"),
    Place(PICTURES, "workspace_id digest", "content", "pictures", how=How.DELETE),
    Place(
        "idempotency",
        "workspace_id tool key",
        "key response",
        "stored answers",
        but={"key": How.DELETE},
    ),
    Place(EVENTS, "workspace_id stream_id seq#", "body", "journal", how=How.APART),
    Place(
        "jobs",
        "workspace_id job_id",
        "key payload last_error",
        "jobs",
        how=How.DELETE,
        but={"last_error": How.REPLACE},  # what a provider said about it; the work is still to be done
    ),
    Place(
        "webhook_deliveries",
        "workspace_id delivery_id",
        "url body",
        "webhook deliveries",
    ),
    Place("webhook_tries", "workspace_id delivery_id number#", "detail", "webhook deliveries"),
    Place(
        "webhook_subscriptions",
        "workspace_id subscription_id",
        "url created_by",
        "webhook subscriptions",
        but={"url": How.DELETE},
    ),
    Place(TARGETS, "workspace_id target_id", "shown problem", "notifications", but={"shown": How.APART}),
    Place("notification_messages", "workspace_id target_id run_id", "message", "notifications"),
    Place(
        PEOPLE,
        "workspace_id person_id",
        "name email",
        "people",
        also={"email": None},
        advice="Their name has more words than you gave. If it is this person, give the full name or address",
    ),
    Place("identities", "workspace_id issuer subject", "subject", "people", how=How.DELETE),
    Place("passkeys", "workspace_id credential_id", "label", "people"),
    Place("sessions", "workspace_id session_id", "device", "sign-in sessions"),
    Place("signup_links", "workspace_id", "email name", "sign-ups", how=How.DELETE),
    Place("workspaces", "workspace_id", "name email", "workspaces"),
    Place(
        "tenants",
        "workspace_id tenant_id",
        "tenant_id name",
        "tenants",
        but={"tenant_id": How.LEAVE},
        advice="The id of a tenant stays, because runs and memories refer to it. Choose ids that name no person",
    ),
    Place("api_keys", "workspace_id key_id", "label", "API keys"),
    Place(
        CONNECTIONS,
        "workspace_id provider",
        "label accounts settings connected_by problem",
        "connections",
    ),
    Place("freezes", "workspace_id agent", "label set_by why", "freezes"),
    Place(
        "policy_versions",
        "workspace_id version#",
        "source set_by",
        "policies",
        but={"source": How.LEAVE},
        advice="Earlier versions of a policy stay, because approvals refer to their digests",
    ),
    Place("workspace_policies", "workspace_id", "policy", "policies", how=How.LEAVE, advice=_POLICY),
    Place("workflow_runs", _RUN, "name", "workflow sessions", how=How.APART),
    Place(
        "workflow_nodes",
        "workspace_id run_id node#",
        "title notes artifacts snapshot",
        "workflow sessions",
        how=How.APART,
    ),
    Place(
        "workflow_answers",
        "workspace_id run_id node# edge",
        "answer text",
        "workflow sessions",
        how=How.APART,
    ),
    Place(
        "workflow_checkpoints",
        "workspace_id run_id node# digest",
        "notes",
        "workflow sessions",
        how=How.APART,
    ),
    Place(
        "workflow_confirmations",
        "workspace_id run_id node# content action_id",
        "content",
        "workflow sessions",
        how=How.APART,
    ),
    Place(
        "workflow_session_notes",
        "workspace_id session_id note_id",
        "author notes",
        "workflow sessions",
        how=How.APART,
    ),
)

_IDS: Final = "ids, names of kinds and states, digests: the server made them"
_SEALED: Final = "encrypted; it goes with its connection or notification"

HOLDS_NONE: Final[dict[str, str]] = {
    "actions.asset_id actions.digest actions.executor_tool actions.status actions.execution_state": _IDS,
    "action_approvals.assurance": _IDS,
    "assets.type assets.channel": _IDS,
    "api_keys.mode api_keys.secret_hash api_keys.scopes api_keys.toolsets api_keys.first_key_id": _IDS,
    "api_keys.client client_grants.jwks_uri": "the address of a program",
    "client_grants.client_hash client_grants.redirect_hash client_grants.challenge client_grants.asked "
    "client_grants.scopes client_grants.refresh_hash client_grants.previous_hash client_grants.salt": _IDS,
    "brand_logos.media_type brand_logos.logo_digest brand_logos.content workspace_brands.accent "
    "workspace_brands.logo_digest": ("the logo of a workspace, drawn again before it was stored"),
    "checkpoints.body checkpoints.signature checkpoints.public_key": "numbers and hashes of events",
    "component_versions.component component_versions.name component_versions.prefix "
    "component_versions.digest": _IDS,
    "connections.state connections.scopes": _IDS,
    "deployment_facts.name deployment_facts.value": "facts of the server: fingerprints, positions, checks",
    "events.kind events.hash streams.hash": _IDS,
    "idempotency.tool idempotency.request_digest idempotency.holder": _IDS,
    "identities.issuer": "the address of an issuer of identities",
    "jobs.kind jobs.state jobs.worker": _IDS,
    "notification_targets.kind notification_targets.causes notification_targets.risks": _IDS,
    "notification_reminders.kind": _IDS,
    "oauth_states.state_hash oauth_states.for_workspace oauth_states.provider oauth_turns.provider "
    "oauth_turns.holder": _IDS,
    "passkeys.public_key sessions.public_key sessions.assurance sessions.secret_hash": _IDS,
    "people.role people.zone people.named_by": "what they may do, their time zone, and where the name is from",
    "pictures.content_type picture_uses.digest callers_seen.caller": _IDS,
    "policy_versions.digest": _IDS,
    "rate_windows.bucket rate_windows.slots": "an address of the network, for an hour",
    "runs.operator runs.tool runs.status": _IDS,
    "sign_in_links.secret_hash signup_links.secret_hash signup_links.mail_hash signup_links.decision": _IDS,
    "signup_links.asked_from": "an address of the network, for a day",
    "used_nonces.nonce_hash used_sign_in_states.state_hash": _IDS,
    "vault_keys.sealed_by vault_keys.sealed vault_secrets.sealed vault_secrets.holder "
    "vault_secrets.field": _SEALED,
    "webhook_deliveries.type webhook_deliveries.state webhook_tries.outcome webhook_subscriptions.events": _IDS,
    "workflow_nodes.step_key workflow_nodes.next_edge workflow_nodes.next_state workflow_nodes.next_ack": _IDS,
    "workflow_confirmations.step_key": _IDS,
    "workflow_programs.workflow_id workflow_programs.workflow_hash workflow_programs.program": (
        "the steps that an author wrote, by their hash"
    ),
    "workflow_runs.workflow_id workflow_runs.workflow_hash": _IDS,
    "workspaces.webhook_hosts": "hosts that webhooks may go to",
    "schema_versions.name schema_versions.digest": _IDS,
    "search_texts.words search_words.about search_words.body search_words_config.k search_words_config.v "
    "search_words_data.block search_words_docsize.sz search_words_idx.segid search_words_idx.term "
    "search_words_idx.pgno": "made from the texts by the database, and merged after an erasure",
}
"""Columns that hold no data of a person, with the reason. Columns whose names end with `_id` are ids."""
