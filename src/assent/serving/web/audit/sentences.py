"""A sentence for each kind of journal event. Pure."""

from __future__ import annotations

from typing import Final

from assent.gate.measurement.metrics import describe_numbers
from assent.present.rule_text import PRESET_WORDS
from assent.serving.web.review.history import SENTENCES, Facts, FactWords, Sentence


def _count(value: object, name: str) -> str:
    return f"{value} {name}" if value == 1 else f"{value} {name}s"


def _step(facts: Facts) -> str:
    done = "{agent} completed the step “{stepKey}”".format_map(FactWords(facts))
    if facts.get("complete"):
        return f"{done}, the last one of its workflow"
    return f"{done} on a new branch" if facts.get("branch") else done


def _blocked(facts: Facts) -> str:
    return f"An answer for a step was refused ({_count(len(facts.get('issues', ())), 'issue')})"


def _describe_measurement(facts: Facts) -> str:
    totals = facts.get("totals")
    return f"Measured: {describe_numbers(totals)}" if isinstance(totals, dict) and totals else "Measured"


def _numbers(facts: Facts) -> str:
    metrics = facts.get("metrics")
    told = describe_numbers(metrics) if isinstance(metrics, dict) else "no numbers"
    return f"Numbers for {facts['channelName']} written down by hand: {told}"


def _memory(facts: Facts) -> str:
    did = "confirmed" if facts.get("state") == "confirmed" else "stopped the use of"
    return f"{facts.get('by', 'Someone')} {did} a memory"


def _written(facts: Facts) -> str:
    return f"{facts.get('by', 'Someone')} {'rewrote' if facts.get('replaces') else 'wrote'} a memory"


def _hosts(facts: Facts) -> str:
    hosts = facts.get("hosts")
    listed = ", ".join(map(str, hosts if isinstance(hosts, list) else ())) or "no host"
    allowed = "any public host" if hosts is None else listed
    return "{agent} allowed webhooks to ".format_map(FactWords(facts)) + allowed


def _subscription(facts: Facts) -> str:
    events = facts.get("events")
    listed = ", ".join(map(str, events if isinstance(events, list) else ())) or "none"
    return "{agent} chose the events that are posted to {url}: ".format_map(FactWords(facts)) + listed


def _policy(facts: Facts) -> str:
    """A policy without a preset has rules of its own alone."""
    name, _ = PRESET_WORDS.get(str(facts.get("policy")), ("Own rules only", ""))
    return f"Policy changed to “{name}” by {{agent}}".format_map(FactWords(facts))


def _signed_in(facts: Facts) -> str:
    how = " on a sign-up page" if facts.get("by") == "signup" else ""
    if "passkey" in facts:
        how = " with a passkey"
    return f"{facts.get('name') or facts.get('person', 'Someone')} signed in{how}"


def _signed_out_everywhere(facts: Facts) -> str:
    sessions = _count(facts.get("sessions", 0), "session")
    return f"{facts.get('person', 'someone')} signed out everywhere ({sessions})"


WORDS: Final[dict[str, Sentence]] = {
    **SENTENCES,
    "workspace_created": "The workspace “{name}” was made by {agent}",
    "workspace_renamed": "The workspace is now called “{name}”, changed by {agent}",
    "brand_changed": "The look of public pages was changed by {agent}",
    "key_issued": "A {mode} key “{label}” was issued by {agent}",
    "key_revoked": "The key {keyId} was revoked by {agent}",
    "workflow_started": "{agent} started the workflow {workflowId}",
    "step_acked": _step,
    "step_blocked": _blocked,
    "checkpoint_kept": "A checkpoint was stored",
    "session_noted": "{by} wrote a note on the session",
    "session_imported": "This run was imported from a file",
    "metrics_recorded": _numbers,
    "run_started": "Begun by {agent}; the result follows",
    "run_failed": "The run ended without a result",
    "run_measured": _describe_measurement,
    "measurement_empty": "Measured, and no source had numbers yet",
    "memory_decided": _memory,
    "memory_written": _written,
    "signup_requested": "A stranger asked for a workspace",
    "signup_admitted": "{by} let a stranger have a workspace",
    "signup_rejected": "{by} declined a stranger’s request for a workspace",
    "person_invited": "{named} was invited by {agent}",
    "person_removed": "{named} was removed by {agent}",
    "person_renamed": "{person} is now named {name}",
    "person_admitted": "{name} ({role}) signed in for the first time, identified by {issuer}",
    "person_linked": "{name} is now identified by {issuer}",
    "person_changed": "{name} became {role}, set by {agent}",
    "passkey_added": "{name} added the passkey “{label}”",
    "passkey_removed": "{name} removed the passkey “{label}”",
    "connector_connected": "{connector} was connected by {agent}",
    "connector_disconnected": "{connector} was disconnected by {agent}",
    "connector_expired": "The access to {connector} has ended",
    "connector_accounts_chosen": "{agent} chose what {connector} may use",
    "connector_accounts_changed": "The accounts at {connector} have changed",
    "secret_stored": "The secret {name} was stored by {agent}",
    "secret_removed": "The secret {name} was removed by {agent}",
    "credits_granted": "{amount} credits were granted by {agent}",
    "credits_limited": "Credits were limited to {amount} by {agent}",
    "credits_unlimited": "The limit of credits was removed by {agent}",
    "webhook_delivered": "The result was posted to its webhook",
    "webhook_failed": "The result could not be posted to its webhook",
    "webhook_resent": "The delivery to a webhook is sent again, at the request of {agent}",
    "page_fetched": "{url} was requested by {agent}",
    "webhook_secret_made": "A secret that signs webhooks was made",
    "proposals_released": "{who} released {count} held proposals",
    "proposals_rejected": "{who} rejected {count} held proposals",
    "wrapped_tools_accepted": "The first tools of the wrapped server {server} were accepted",
    "boundary_checked": "{agent} tried what an agent of the user “{user}” can do to the server",
    "boundary_forgotten": "The check of the user “{user}” was removed by {agent}",
    "key_rotated": "A key was replaced by {agent}; the old one works until {until}",
    "person_erased": "The data of a person was erased by {agent}",
    "content_erased": "The content was erased by {agent}",
    "events_erased": "Texts of earlier entries were erased; their hashes stayed",
    "rate_changed": "The workspace may make this many calls in a minute: {perMinute}, set by {agent}",
    "sending_frozen": "All sending was stopped by {agent}",
    "sending_resumed": "Sending was allowed again by {agent}",
    "policy_changed": _policy,
    "notification_added": "{agent} asked for notifications at {shown}",
    "notification_removed": "Notifications to {shown} were stopped by {agent}",
    "approvals_sealed": "Earlier approvals were sealed by the server",
    "webhook_hosts_changed": _hosts,
    "subscription_added": _subscription,
    "subscription_changed": _subscription,
    "subscription_removed": "{agent} stopped the events to {url}",
    "webhook_secret_rotated": "The secret that signs webhooks was replaced",
    "sign_in_link_issued": "A sign-in link for {person} was made",
    "signed_in": _signed_in,
    "signed_out": "{person} signed out",
    "signed_out_everywhere": _signed_out_everywhere,
}
"""The sentences of all kinds."""
