"""A policy asks for what its words say: compared with an evaluator that shares no code with the server."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import example, given, settings
from tests.support.effort import rounds
from tests.support.gate.evaluator import is_permitted, list_asks
from tests.support.gate.policies import FACTS, PEOPLE, ROLES, YESES, policies

from assent.gate.policy import holds
from assent.gate.records import PROPOSAL, Action, Assurance, Effect, ExecutionState, Preflight, Status, Voice
from assent.gate.rules.source import read_policy, write_toml
from assent.gate.views import Facets, Severity, View
from assent.kernel.ids import ActionId, RunId, WorkspaceId


def build_action(facts: dict[str, Any]) -> Action:
    channel, _, verb = facts["effect"].partition("_")
    effect = Effect(
        channel=channel,
        verb=verb,
        connector="none",
        body="",
        recipients=tuple(facts["recipients"]),
        arguments=facts["arguments"],
    )
    return Action(
        workspace_id=WorkspaceId("w"),
        action_id=ActionId("a"),
        run_id=RunId("r"),
        tenant_id=None,
        asset_id=None,
        position=0,
        version=1,
        effect=effect,
        digest=effect.digest(),
        revision=1,
        executor_tool="execute",
        status=Status.AWAITING_APPROVAL,
        execution_state=ExecutionState.NONE,
        preflight=Preflight(severity=Severity(facts["risk"]), connector_ready=True),
        created_ms=0,
        expires_ms=None,
        view=View(
            reversible=facts["reversible"],
            facets=Facets(amount=facts["amount"], currency=facts["currency"]),
            without=tuple(facts["without"]),
        ),
        metadata={
            PROPOSAL: {
                "operator": facts["operator"],
                "caller": facts["caller"],
                "personId": facts["proposer"],
            }
        },
    )


LAX = {"preset": "none", "rule": [{"name": "lax", "when": {}, "ask": {"assurance": "agent"}}]}
"""Random policies hardly ever meet a high risk with nothing but a lax rule."""
REFUND = {
    "effect": "billing_refund",
    "risk": "high",
    "reversible": False,
    "operator": "billing",
    "caller": "key:1",
    "recipients": [],
    "amount": "500",
    "currency": "EUR",
    "arguments": {},
    "without": [],
    "proposer": "",
}


def let_groups_overlap(last: dict[str, Any]) -> dict[str, Any]:
    """A policy in which one person is of both groups, and whose last rule cannot be judged."""
    named = {"name": "named", "ask": {"people": ["ada@example.org", "bob@example.org"]}}
    owner = {"name": "owner", "ask": {"people": ["role:owner"]}}
    unknown = {"name": "unknown", "when": {"arguments": {"a": "x"}}, **last}
    return {"preset": "two_people", "rule": [named, owner, unknown]}


ADA_AND_CLEO = [{"who": "ada", "assurance": "person"}, {"who": "cleo", "assurance": "person"}]


@pytest.mark.prove
@settings(max_examples=rounds(300, 20_000))
@given(policies(), FACTS, YESES)
@example(LAX, REFUND, [{"who": "ada", "assurance": "agent"}])
@example(LAX, REFUND, [{"who": "ada", "assurance": "person"}])
@example(let_groups_overlap({"deny": "No."}), REFUND, ADA_AND_CLEO)
@example(let_groups_overlap({"ask": {}}), REFUND, ADA_AND_CLEO)
@example(let_groups_overlap({"ask": {}}), {**REFUND, "risk": "low"}, ADA_AND_CLEO)
def test_an_approval_holds_where_the_words_of_the_policy_hold(
    source: dict[str, Any], facts: dict[str, Any], yeses: list[dict[str, Any]]
) -> None:
    policy, action = read_policy(source, PEOPLE), build_action(facts)
    latest = {yes["who"]: yes for yes in yeses}
    voices = [
        Voice(f"person:{who}", Assurance(yes["assurance"]), 0, ROLES[who].removeprefix("role:"))
        for who, yes in latest.items()
    ]
    named = {f"{who}@example.org" if who != "cleo" else who: yes for who, yes in latest.items()}
    plain = [
        {"who": who, "assurance": yes["assurance"], "role": ROLES[yes["who"]]} for who, yes in named.items()
    ]
    about = {
        **facts,
        "channel": facts["effect"].partition("_")[0],
        "proposer": f"{facts['proposer']}@example.org" if facts["proposer"] else "",
    }
    assert holds(voices, policy.require(action), action) == is_permitted(source, about, plain)
    assert bool(policy.require(action).denied) == (list_asks(source, about) is None)


@settings(max_examples=rounds(60, 2_000))
@given(policies())
def test_a_policy_written_as_toml_is_read_as_the_same(source: dict[str, Any]) -> None:
    assert read_policy(tomllib.loads(write_toml(source)), PEOPLE) == read_policy(source, PEOPLE)
