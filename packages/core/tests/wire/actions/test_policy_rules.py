"""Rules of a policy on a whole server: what is executed, what is refused and why, and the replay of a draft."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, OTHER, Gate
from tests.support.edits import edit as edit_as
from tests.support.effort import rounds
from tests.support.gate.evaluator import is_permitted
from tests.support.gate.policies import policies as any_policies

from assent.engine.actions import decisions, policies
from assent.engine.core import tenancy
from assent.engine.people import members, people
from assent.engine.people.people import Person, Role
from assent.gate.gate import Decider, SeenVersion
from assent.gate.names import name_by_link
from assent.gate.records import Action, Assurance
from assent.gate.rules.source import BadPolicy
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Refusal
from assent.ports import Transaction

pytestmark = pytest.mark.rule("E62")

PEOPLE = {"ada": Role.OWNER, "bob": Role.MEMBER, "cleo": Role.MEMBER}
STAGED: dict[str, dict[str, Any]] = {
    "low": {"channel": "site", "verb": "publish", "connector": "site"},
    "medium": {},
    "high": {"severity": "high"},
}


async def invite_people(surface: Gate) -> dict[str, str]:
    """Create three people. Returns the ids by name."""
    found = {}
    for name, role in PEOPLE.items():
        person_id = surface.app.owner_services.new_id(surface.clock.now_ms())
        # An owner decides in every workspace: no other test may want this name.
        person = Person(person_id, f"{name} {person_id}", role, f"{person_id}@example.org")

        def make(person: Person = person) -> Transaction[str]:
            entropy = os.urandom(people.ENTROPY_BYTES)
            return members.invite(person, (surface.workspace_id,), entropy, 1, by="test")

        await surface.app.store.write(make)
        found[name] = person_id
    return found


async def save(surface: Gate, source: dict[str, Any]) -> None:
    now_ms = surface.clock.now_ms()
    await surface.app.store.write(lambda: policies.save(surface.workspace_id, source, now_ms, by="test"))


async def replay(surface: Gate, source: dict[str, Any]) -> policies.ReplayReport:
    draft = await surface.app.store.read(lambda: policies.read(source))
    now_ms = surface.clock.now_ms()
    return await surface.app.store.read(lambda: policies.replay(surface.workspace_id, draft, now_ms))


async def say_yes(surface: Gate, action_id: str, name: str, person_id: str, assurance: str) -> Action:
    """A yes of a signed-in person, as a page gives it."""
    now_ms, action = surface.clock.now_ms(), await surface.stored(action_id)
    decider = Decider(
        surface.workspace_id, name, Assurance(assurance), "page", person_id, None, PEOPLE[name].value
    )
    return await surface.decide(
        lambda: decisions.approve(
            decider,
            ActionId(action_id),
            SeenVersion(digest=action.digest),
            now_ms,
            seals=surface.app.keys.seals,
        )
    )


def with_ids(source: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    """The same policy, with people by their ids."""
    rules = []
    for rule in source["rule"]:
        if "people" in rule.get("ask", {}):
            named = [ids.get(each.partition("@")[0], each) for each in rule["ask"]["people"]]
            rule = {**rule, "ask": {**rule["ask"], "people": named}}
        rules.append(rule)
    return {**source, "rule": rules}


def sample(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """Values of a strategy, the same in every run."""
    found: list[Any] = []

    @settings(max_examples=count, phases=[Phase.generate], database=None, derandomize=True)
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


DECISIONS = st.tuples(
    any_policies(),
    st.sampled_from(list(STAGED)),
    st.lists(
        st.tuples(
            st.sampled_from(list(PEOPLE)), st.sampled_from(["agent", "link", "client", "person", "passkey"])
        ),
        unique_by=lambda yes: yes[0],
        max_size=3,
    ),
)


@pytest.mark.prove
async def test_what_is_executed_is_what_the_words_of_the_policy_permit(surface: Gate) -> None:
    ids = await invite_people(surface)
    executed = 0
    for source, risk, yeses in sample(DECISIONS, rounds(25, 400)):
        await save(surface, with_ids(source, ids))
        action_id = await surface.staged(**STAGED[risk])
        for name, assurance in yeses:
            try:
                await say_yes(surface, action_id, name, ids[name], assurance)
            except Refusal as refusal:
                assert refusal.reason in ("requires_approval", "denied_by_policy")
        done = await surface.ask(EXECUTE, actionId=action_id)
        action = await surface.stored(action_id)
        facts = {
            "effect": action.effect.type,
            "channel": action.effect.channel,
            "risk": risk,
            "reversible": action.view.reversible,
            "operator": action.metadata["proposal"]["operator"],
            "caller": action.metadata["proposal"]["caller"],
            "recipients": [],
            "amount": "",
            "currency": "",
            "arguments": {},
            "without": ["recipients", "amount", "arguments"],
            "proposer": "",
        }
        plain = [
            {"who": ids[name], "assurance": assurance, "role": f"role:{PEOPLE[name]}"}
            for name, assurance in yeses
        ]
        assert (not done.is_error) == is_permitted(with_ids(source, ids), facts, plain), (source, risk, yeses)
        executed += not done.is_error
    assert executed > 3


@pytest.mark.prove
async def test_a_replay_gives_each_decision_the_result_that_enforcing_the_draft_gives(surface: Gate) -> None:
    ids = await invite_people(surface)
    for source, risk, yeses in sample(DECISIONS, rounds(20, 300)):
        draft = with_ids(source, ids)
        for before in ("relay", "two_people"):
            recorded = []
            await save(surface, {"preset": before})
            past = await surface.staged(**STAGED[risk])
            for name, assurance in yeses[: 2 if before == "two_people" and risk == "high" else 1]:
                try:
                    await say_yes(surface, past, name, ids[name], assurance)
                    recorded.append((name, assurance))
                except Refusal:
                    continue
            report = await replay(surface, draft)
            replayed = [each.would_be for each in report.decisions if each.action_id == past]

            await save(surface, draft)
            enforced = []
            again = await surface.staged(**STAGED[risk])
            for name, assurance in recorded:
                try:
                    done = await say_yes(surface, again, name, ids[name], assurance)
                    enforced.append("approved" if done.status == "approved" else "recorded")
                except Refusal as refusal:
                    enforced.append("denied" if refusal.reason == "denied_by_policy" else "refused")
            assert replayed == enforced, (source, risk, recorded)


async def test_a_rule_that_denies_is_said_and_holds_against_everyone(surface: Gate) -> None:
    approved = await surface.approved()
    await save(
        surface,
        {
            "preset": "relay",
            "rule": [{"name": "No LinkedIn", "when": {"channel": "linkedin"}, "deny": "We left"}],
        },
    )
    answer = await surface.denied(EXECUTE, actionId=approved)
    assert (answer["reason"], answer["retryable"]) == ("denied_by_policy", False)
    assert "We left." in answer["userMessage"]
    action_id = await surface.staged()
    assert (await surface.denied(APPROVE, actionId=action_id))["reason"] == "denied_by_policy"
    with pytest.raises(Refusal):
        await surface.approve_as(Assurance.PASSKEY, action_id)
    assert surface.calls == 0


async def test_the_agent_that_proposed_may_not_approve_and_another_key_may(surface: Gate) -> None:
    rule = {"name": "Four eyes", "ask": {"assurance": "agent", "not_proposer": True}}
    await save(surface, {"preset": "relay", "rule": [rule]})
    action_id = await surface.staged()
    answer = await surface.denied(APPROVE, actionId=action_id)
    assert answer["reason"] == "requires_approval"
    assert "who did not propose it" in answer["userMessage"]
    with pytest.raises(Refusal):
        await surface.approve_as(Assurance.LINK, action_id, name_by_link("key:other"))
    ids = await invite_people(surface)
    await say_yes(surface, action_id, "ada", ids["ada"], "person")
    await surface.done(EXECUTE, actionId=action_id)


async def test_a_person_who_edited_it_may_not_approve_it_alone(surface: Gate) -> None:
    """Else anybody could turn what another proposed into what they want, and approve that."""
    ids = await invite_people(surface)
    rule = {"name": "Four eyes", "ask": {"not_proposer": True}}
    await save(surface, {"preset": "relay", "rule": [rule]})
    action_id = await surface.staged()
    bob = Decider(surface.workspace_id, "bob", Assurance.PERSON, "page", ids["bob"], None, "member")
    await edit_as(surface.app.owner_services, bob, ActionId(action_id), {"body": OTHER})
    with pytest.raises(Refusal):
        await say_yes(surface, action_id, "bob", ids["bob"], "passkey")
    await say_yes(surface, action_id, "ada", ids["ada"], "person")
    report = await replay(surface, {"preset": "relay", "rule": [rule]})
    assert [each.would_be for each in report.decisions if each.action_id == action_id] == ["approved"]
    await surface.done(EXECUTE, actionId=action_id)


async def test_every_decision_and_every_change_has_the_hash_of_the_policy(surface: Gate) -> None:
    await save(surface, {"preset": "relay"})
    before = await surface.app.store.read(lambda: policies.find_version(surface.workspace_id))
    await save(surface, {"preset": "people"})
    after = await surface.app.store.read(lambda: policies.find_version(surface.workspace_id))
    assert (after.version, after.source) == (before.version + 1, {"preset": "people"})
    action_id = await surface.staged()
    approved = await surface.approve_as(Assurance.PERSON, action_id)
    assert approved.approval is not None
    assert approved.approval.policy == after.digest
    await surface.done(EDIT, actionId=action_id, body=OTHER)
    run_id = (await surface.stored(action_id)).run_id
    kinds = {
        event["kind"]: event["facts"].get("policy")
        for event in (await surface.done("chieflab_query_audit", runId=run_id))["events"]
    }
    assert (kinds["action_approve"], kinds["action_edit"]) == (after.digest, after.digest)


MISTAKES: list[Any] = [
    {},
    {"preset": "relax"},
    {"preset": "relay", "rules": []},
    {"preset": "none"},
    {"preset": "relay", "rule": [{"name": "x", "when": {"amout": 3}, "ask": {}}]},
    {"preset": "relay", "rule": [{"name": "x", "ask": {"assurance": "persn"}}]},
    {"preset": "relay", "rule": [{"name": "x", "ask": {"people": ["nobody@example.org"]}}]},
    {"preset": "relay", "rule": [{"name": "x", "allow": True}]},
    {"preset": "relay", "rule": [{"name": "x", "ask": {}, "deny": "no"}]},
    {"preset": "relay", "rule": [{"name": "x", "ask": {"approvers": 0}}]},
    {"preset": "relay", "rule": [{"name": "x", "ask": {"approvers": True}}]},
    {"preset": "relay", "rule": [{"name": "x", "when": {"amount": {"atleast": 3}}, "ask": {}}]},
    {
        "preset": "relay",
        "rule": [{"name": "x", "when": {"recipients": {"outside": "example.org"}}, "ask": {}}],
    },
    {"preset": "relay", "rule": [{"name": "x", "ask": {}}, {"name": "x", "ask": {}}]},
    {"preset": "relay", "rule": "x"},
    [],
    None,
]


async def test_a_policy_with_a_mistake_is_not_saved_and_changes_nothing(surface: Gate) -> None:
    await save(surface, {"preset": "people"})
    for source in MISTAKES:
        with pytest.raises(BadPolicy) as bad:
            await save(surface, source)
        assert bad.value.problems, source
    held = await surface.app.store.read(lambda: policies.find_version(surface.workspace_id))
    assert held.source == {"preset": "people"}
    assert (await surface.denied(APPROVE, actionId=await surface.staged()))["reason"] == "requires_approval"


async def test_only_a_key_made_for_it_may_change_the_policy(surface: Gate) -> None:
    wanted = {"preset": "people", "rule": [{"name": "Two", "ask": {"approvers": 2}}]}
    assert (await surface.denied("chieflab_set_policy", policy=wanted))["reason"] == "insufficient_scope"
    key = await surface.key_with(tenancy.POLICY_SCOPE)
    bad = await surface.call("chieflab_set_policy", {"policy": {"preset": "peple"}}, key=key)
    assert (bad.reason, bad.payload["problems"][0]["path"]) == ("validation_error", "policy.preset")
    done = await surface.call("chieflab_set_policy", {"policy": wanted}, key=key)
    assert not done.is_error, done.payload
    read = await surface.done("chieflab_get_policy")
    assert (read["policy"], read["version"]) == (wanted, 1)
    assert read["words"][-1] == "Two: everything needs 2 different signed-in people."
