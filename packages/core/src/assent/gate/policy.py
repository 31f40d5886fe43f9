"""The policy of a workspace: which approval an action needs (C8).

A policy has a requirement for each risk, which its preset sets, and rules that ask for more or deny.
Every rule that matches counts: a denial wins, then the strictest part of each ask. There is no rule
that allows: an action never runs without an approval. A rule that cannot be judged, because a value
is unknown (`assent.gate.rules.matching`), denies if it is one that denies; else it asks for the
strictest approval that the policy names, and at least for a signed-in person. So does an action that
nothing matches. High risk always needs a person: each preset says so, and a policy without a preset
asks for one beside its rules. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce
from typing import Final

import msgspec

from assent.gate.records import Action, Approval, Assurance, Voice, find_wish, read_proposal
from assent.gate.rules.matching import CommonValues, Match, Matched, match_common, match_others
from assent.gate.views import Severity
from assent.kernel import canonical
from assent.kernel.structs import WireRecord

RANK: Final[dict[Assurance, int]] = {
    Assurance.AGENT: 0,
    Assurance.LINK: 0,  # the agent holds the link too
    Assurance.CLIENT: 1,
    Assurance.CHAT_APP: 2,  # a linked account of a chat app; an administrator of that app could sign for it
    Assurance.PERSON: 3,
    Assurance.PASSKEY: 4,
}


PERSON: Final = "person:"
"""Beginning of the approver key of a signed-in person."""
KEY: Final = "key:"
"""Beginning of the name of a caller with an API key."""


class ApproverGroup(WireRecord, omit_defaults=True):
    """People of whom some must approve: `person:ID`, or a role as `role:owner`."""

    people: tuple[str, ...]
    approvers: int = 1
    names: tuple[str, ...] = ()
    """The same people as the policy's author named them."""


class Requirement(WireRecord, omit_defaults=True):
    """The approval that an action needs. All parts must hold."""

    assurance: Assurance
    approvers: int = 1
    """The number of different people who must approve."""
    groups: tuple[ApproverGroup, ...] = ()
    not_proposer: bool = False
    """Whether the person whose agent proposed it may not approve it."""
    within_ms: int | None = None
    """How long an action waits for its approval, and how long the approval counts."""
    denied: str = ""
    """Why it may not be approved at all."""
    unknown: str = ""
    """The value for which the rule that denies it could not be judged."""
    rules: tuple[str, ...] = ()
    """The names of the rules that ask for this; the one that denies it, if one does."""


class PolicyRule(WireRecord, kw_only=True, omit_defaults=True):
    """A rule: what it matches, and what it asks for or why it denies."""

    name: str
    when: Match = Match()
    ask: Requirement | None = None
    deny: str = ""


_WEAKEST: Final = Requirement(Assurance.AGENT)
_PERSON: Final = Requirement(Assurance.PERSON)


class Policy(WireRecord, omit_defaults=True, cache_hash=True):
    """A requirement for each risk, and rules. Without the requirements, what no rule matches needs the
    strictest approval."""

    low: Requirement | None = None
    medium: Requirement | None = None
    high: Requirement | None = None
    rules: tuple[PolicyRule, ...] = ()

    def require(self, action: Action) -> Requirement:
        """Return the approval that an action needs. Content that a person sent back is approved as it is by a yes that
        is known as well as theirs was, and by no weaker one."""
        needed, wish = self._require(action), find_wish(action)
        if wish is None or needed.denied:
            return needed
        asked = Assurance(wish["assurance"])
        return join(needed, Requirement(min(asked, Assurance.PERSON, key=RANK.__getitem__)))

    def _require(self, action: Action) -> Requirement:
        severity = action.preflight.severity
        if not self.rules:
            return self.require_for_risk(severity) or find_strictest(self)
        judged = zip(self.rules, _match_rules(self, CommonValues.of(action)), strict=True)
        matched = [
            match_others(rule.when, action, exact=self.may_lower(rule, severity)) if found is None else found
            for rule, found in judged
        ]
        return _combine(self, severity, tuple(matched))

    def require_for_risk(self, severity: Severity) -> Requirement | None:
        """Return the requirement for a risk, without the rules."""
        if severity is Severity.LOW:
            return self.low
        return self.medium if severity is Severity.MEDIUM else self.high

    def may_lower(self, rule: PolicyRule, severity: Severity) -> bool:
        """Whether a match can make the approval easier: without a requirement for the risk, what no rule
        matches needs the strictest."""
        return rule.ask is not None and self.require_for_risk(severity) is None


@lru_cache(maxsize=256)
def _match_rules(policy: Policy, values: CommonValues) -> tuple[bool | None, ...]:
    """Judge each rule by the values that every action has; cached, since they are few."""
    return tuple(
        match_common(rule.when, values, exact=policy.may_lower(rule, values.severity))
        for rule in policy.rules
    )


@lru_cache(maxsize=256)
def _combine(policy: Policy, severity: Severity, matched: tuple[Matched, ...]) -> Requirement:
    """Return what a policy asks for, given which of its rules match; cached, since these are few."""
    base = policy.require_for_risk(severity)
    asked = [base] if base is not None else []
    denials: list[tuple[PolicyRule, Matched]] = []
    for rule, found in zip(policy.rules, matched, strict=True):
        if found is False:
            continue
        if rule.ask is None:
            denials.append((rule, found))
        else:
            needed = rule.ask if found is True else find_strictest(policy)
            asked.append(msgspec.structs.replace(needed, rules=(rule.name,)))
    least = [_PERSON] if base is None and severity is Severity.HIGH else []
    needed = reduce(join, (*least, *asked)) if asked else find_strictest(policy)
    return _deny(needed, *denials[0]) if denials else needed


def _deny(needed: Requirement, rule: PolicyRule, found: Matched) -> Requirement:
    """Return a requirement that a rule denies, because it matches or because a value is unknown."""
    unknown = found if isinstance(found, str) else ""
    why = f"{rule.deny} The rule cannot be judged here, because this is unknown: {unknown}."
    denied = why if unknown else rule.deny
    return msgspec.structs.replace(needed, denied=denied, unknown=unknown, rules=(rule.name,))


def join(one: Requirement, other: Requirement) -> Requirement:
    """Return the requirement that holds only if both hold."""
    shortest = [each for each in (one.within_ms, other.within_ms) if each is not None]
    return Requirement(
        assurance=max(one.assurance, other.assurance, key=RANK.__getitem__),
        approvers=max(one.approvers, other.approvers),
        groups=tuple(dict.fromkeys((*one.groups, *other.groups))),
        not_proposer=one.not_proposer or other.not_proposer,
        within_ms=min(shortest, default=None),
        rules=tuple(dict.fromkeys((*one.rules, *other.rules))),
    )


@lru_cache(maxsize=64)
def find_strictest(policy: Policy) -> Requirement:
    """Return all that any part of a policy asks for, and at least a signed-in person."""
    named = (policy.low, policy.medium, policy.high, *(rule.ask for rule in policy.rules))
    return reduce(join, (each for each in named if each is not None), _PERSON)


PRESETS: Final[dict[str, Policy]] = {
    "relay": Policy(low=_WEAKEST, medium=_WEAKEST, high=_PERSON),
    "people": Policy(low=_PERSON, medium=_PERSON, high=_PERSON),
    "two_people": Policy(low=_PERSON, medium=_PERSON, high=Requirement(Assurance.PERSON, 2)),
}
"""`relay`: an agent may pass on a yes for low and medium risk. `people`: a signed-in person decides
everything. `two_people`: high risk needs two people, the rest one."""

RELAY: Final = "relay"
"""The contract's default."""
PEOPLE: Final = "people"
TWO_PEOPLE: Final = "two_people"

DEFAULT: Final = PRESETS[RELAY]


def find_preset(name: str) -> Policy | None:
    return PRESETS.get(name)


def name_preset(policy: Policy) -> str:
    """Return the name of the preset whose requirements a policy has; empty if there is none."""
    base = Policy(policy.low, policy.medium, policy.high)
    return next((name for name, preset in PRESETS.items() if preset == base), "")


def suffices(assurance: Assurance, needed: Assurance) -> bool:
    return RANK[assurance] >= RANK[needed]


def client_decides(needed: Requirement) -> bool:
    """Whether the dialog of a client can meet a requirement. It names no person, so it cannot tell who
    approves."""
    return needed == Requirement(Assurance.CLIENT, within_ms=needed.within_ms, rules=needed.rules)


def satisfies(action: Action, approval: Approval, needed: Requirement, now_ms: int) -> bool:
    """Whether a stored approval meets the present policy, which may have become stricter. The time for
    which it counts begins when the action is due, if that is later."""
    since_ms = max(approval.at_ms, action.schedule_ms or 0)
    if needed.within_ms is not None and now_ms > since_ms + needed.within_ms:
        return False
    return holds(list_voices(approval), needed, action)


def list_voices(approval: Approval) -> tuple[Voice, ...]:
    """Return everyone who approved."""
    if approval.voices:
        return approval.voices
    name = f"{PERSON}{approval.person_id}" if approval.person_id else approval.by
    return (Voice(name, approval.assurance, approval.at_ms),) * approval.approvers


def holds(voices: Iterable[Voice], needed: Requirement, action: Action) -> bool:
    """Whether these people, each once, are all that is needed."""
    counted = [voice for voice in voices if counts(voice, needed, action)]
    return (
        not needed.denied
        and len(counted) >= needed.approvers
        and all(sum(belongs(voice, group) for voice in counted) >= group.approvers for group in needed.groups)
    )


def counts(voice: Voice, needed: Requirement, action: Action) -> bool:
    """Whether a yes counts as one of those that are needed."""
    if RANK[voice.assurance] < RANK[needed.assurance]:
        return False
    if needed.not_proposer and is_proposer(voice.approver, action):
        return False
    # Where one group must give as many as are needed at all, the yes of anyone else would never count.
    # Several groups leave room for others: one person may belong to each of them.
    reserved = max((group.approvers for group in needed.groups), default=0) >= needed.approvers
    return not reserved or any(belongs(voice, group) for group in needed.groups)


def is_proposer(approver: str, action: Action) -> bool:
    """Whether an approver is the one whose agent proposed the action, or has edited it. Of those who are
    not signed in, only the holder of another API key is surely someone else."""
    proposal = read_proposal(action)
    if any(revision <= action.revision and who == approver for revision, who in proposal.editors):
        return True
    if approver.startswith(PERSON):
        return approver == f"{PERSON}{proposal.person_id}"
    return not approver.startswith(KEY) or not proposal.caller or approver == proposal.caller


def belongs(voice: Voice, group: ApproverGroup) -> bool:
    """Whether a yes is of one of these people. Only someone who is signed in is; a name that someone
    gives may read like a role."""
    return voice.approver.startswith(PERSON) and (
        voice.approver in group.people or f"role:{voice.role}" in group.people
    )


@lru_cache(maxsize=64)
def digest_policy(policy: Policy) -> str:
    """Return the digest of a policy; cached, since workspaces share few policies."""
    return canonical.digest(policy)
