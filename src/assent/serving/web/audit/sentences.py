"""A sentence for each kind of journal event. A test compares the table with the kinds that the code appends. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from assent.serving.web.review.history import SENTENCES, Facts
from assent.serving.web.review.words import agent_name, channel_name, connector_name
from assent.suite.measurement.metrics import describe_numbers
from assent.suite.measurement.recommend import RULES


def _by(facts: Facts) -> str:
    return agent_name(str(facts.get("by", "somebody")))


def _connector(facts: Facts) -> str:
    return connector_name(str(facts.get("provider", "a connector")))


def _count(value: object, name: str) -> str:
    return f"{value} {name}" if value == 1 else f"{value} {name}s"


def _step(facts: Facts) -> str:
    done = f"{_capital(_by(facts))} completed the step “{facts.get('stepKey', '')}”"
    if facts.get("complete"):
        return f"{done}, the last one of its workflow"
    return f"{done} on a new branch" if facts.get("branch") else done


def _describe_measurement(facts: Facts) -> str:
    """Describe a measurement. Earlier rules added numbers that must not be added, so those totals are left out."""
    totals = facts.get("totals")
    if not isinstance(totals, dict) or not totals or facts.get("rules") != RULES:
        return "Measured"
    return f"Measured: {describe_numbers(totals)}"


def _numbers(facts: Facts) -> str:
    metrics = facts.get("metrics")
    told = describe_numbers(metrics) if isinstance(metrics, dict) else "no numbers"
    return f"Numbers for {channel_name(str(facts.get('channel', 'a channel')))} written down by hand: {told}"


MORE: Final[dict[str, Callable[[Facts], str]]] = {
    "action_staged": lambda facts: "What was left over became an action of its own, to be approved",
    "workspace_created": lambda facts: f"The workspace “{facts.get('name', '')}” was made by {_by(facts)}",
    "key_issued": lambda facts: (
        f"A {facts.get('mode', '')} key “{facts.get('label', '')}” was issued by {_by(facts)}"
    ),
    "key_revoked": lambda facts: f"The key {facts.get('keyId', '')} was revoked by {_by(facts)}",
    "workflow_started": lambda facts: (
        f"{_capital(_by(facts))} started the workflow {facts.get('workflowId', '')}"
    ),
    "step_acked": _step,
    "step_blocked": lambda facts: (
        f"An answer for a step was refused ({_count(len(facts.get('issues', ())), 'issue')})"
    ),
    "checkpoint_kept": lambda facts: "A checkpoint was kept",
    "session_noted": lambda facts: f"{facts.get('by', 'Somebody')} wrote a note on the session",
    "session_imported": lambda facts: "This run came in from a file",
    "metrics_recorded": _numbers,
    "run_started": lambda facts: f"Begun by {_by(facts)}; the result follows",
    "run_failed": lambda facts: "The run ended without a result",
    "run_measured": _describe_measurement,
    "measurement_empty": lambda facts: "Measured, and no source had numbers yet",
    "memory_decided": lambda facts: (
        f"{facts.get('by', 'Somebody')} "
        f"{'confirmed' if facts.get('state') == 'confirmed' else 'stopped the use of'} a memory"
    ),
    "person_invited": lambda facts: (
        f"{facts.get('name') or facts.get('person', 'Somebody')} was invited by {_by(facts)}"
    ),
    "person_removed": lambda facts: (
        f"{facts.get('name') or facts.get('person', 'Somebody')} may not sign in any more, says {_by(facts)}"
    ),
    "person_renamed": lambda facts: (
        f"{facts.get('person', 'Somebody')} is called {facts.get('name', '')} now"
    ),
    "connector_connected": lambda facts: f"{_connector(facts)} was connected by {_by(facts)}",
    "connector_disconnected": lambda facts: f"{_connector(facts)} was disconnected by {_by(facts)}",
    "connector_expired": lambda facts: f"The access to {_connector(facts)} has ended",
    "connector_accounts_chosen": lambda facts: (
        f"{_capital(_by(facts))} chose what {_connector(facts)} may use"
    ),
    "connector_accounts_changed": lambda facts: f"The accounts at {_connector(facts)} have changed",
    "credits_granted": lambda facts: f"{facts.get('amount', 0)} credits were granted by {_by(facts)}",
    "credits_limited": lambda facts: f"Credits were limited to {facts.get('amount', 0)} by {_by(facts)}",
    "credits_unlimited": lambda facts: f"The limit of credits was taken away by {_by(facts)}",
    "webhook_delivered": lambda facts: "The result was posted to its webhook",
    "webhook_failed": lambda facts: "The result could not be posted to its webhook",
    "webhook_resent": lambda facts: f"The result is posted to its webhook again, asked for by {_by(facts)}",
    "page_fetched": lambda facts: f"{facts.get('url', 'A page')} was asked for by {_by(facts)}",
    "webhook_secret_made": lambda facts: "A secret that signs webhooks was made",
    "policy_changed": lambda facts: f"The policy became “{facts.get('policy', '')}”, set by {_by(facts)}",
    "notification_added": lambda facts: (
        f"{_capital(_by(facts))} wants to be told at {facts.get('shown', 'an address')}"
    ),
    "notification_removed": lambda facts: (
        f"{facts.get('shown', 'An address')} is not told any more, says {_by(facts)}"
    ),
    "approvals_sealed": lambda facts: "Approvals from before they were sealed got the server's seal",
    "webhook_hosts_changed": lambda facts: (
        f"{_capital(_by(facts))} lets results be posted to {_hosts(facts.get('hosts'))}"
    ),
    "webhook_secret_rotated": lambda facts: "The secret that signs webhooks was replaced",
    "sign_in_link_issued": lambda facts: f"A sign-in link for {facts.get('person', 'somebody')} was made",
    "signed_in": lambda facts: (
        f"{facts.get('name') or facts.get('person', 'Someone')} signed in"
        + (" by the page of a sign-up" if facts.get("by") == "signup" else "")
    ),
    "signed_out": lambda facts: f"{_capital(str(facts.get('person', 'somebody')))} signed out",
    "signed_out_everywhere": lambda facts: (
        f"{_capital(str(facts.get('person', 'somebody')))} signed out everywhere "
        f"({_count(facts.get('sessions', 0), 'session')})"
    ),
}

WORDS: Final[dict[str, Callable[[Facts], str]]] = {**SENTENCES, **MORE}
"""The sentences of all kinds."""


def _hosts(named: object) -> str:
    if named is None:
        return "any public host"
    return ", ".join(map(str, named if isinstance(named, list) else ())) or "no host"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
