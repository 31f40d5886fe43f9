"""Run, asset and action: the nouns of the execution contract, as immutable values.

An action is a staged external effect. `Effect` holds everything that will be sent and its
destination. An approval binds to its digest (C29), so no value that reaches a provider may be
stored outside it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from assent.gate.views import Severity, View
from assent.kernel import canonical
from assent.kernel.canonical import DIGEST_PREFIX
from assent.kernel.domains import with_ascii_form
from assent.kernel.ids import SYSTEM_WORKSPACE, ActionId, AssetId, RunId, TenantId, WorkspaceId
from assent.kernel.limits import CLOCKS_APART_MS, MANY_RECIPIENTS
from assent.kernel.refusals import bad_argument
from assent.kernel.structs import Record, WireRecord
from assent.kernel.texts import is_one_line, truncate
from assent.kernel.times import parse_time, read_offset

WORKFLOW: Final = "workflow"
"""The internal connector of confirmations."""
OWN_WORDS: Final = "ownWords"
"""Metadata key of a mail that is not part of a launch."""
SUBMITTED: Final = "submitted"
"""Metadata key: the digest of the staged content, which an edit does not change."""
CALL: Final = "call"
"""Metadata key: the waiting advance's arguments, and the names of those too long to store."""
REASON: Final = "reason"
"""Metadata key: why the agent wants it, in its own words."""
PASSED: Final = "passed"
"""Metadata key of the first action of a run: the step of a workflow that passed with the decisions about them."""
SUPERSEDED: Final = "supersededBy"
"""Metadata key: the action with the content that replaced this one."""


class Status(enum.StrEnum):
    """S0 §5's six values. `edited` is recorded as an event; no action stays in it (C9)."""

    AWAITING_APPROVAL = "awaiting_approval"
    APPROVED = "approved"
    REJECTED = "rejected"
    EDITED = "edited"
    EXECUTED = "executed"
    FAILED = "failed"


OPEN: Final = (Status.AWAITING_APPROVAL, Status.APPROVED)
"""The statuses in which an action can still be sent."""


class ExecutionState(enum.StrEnum):
    """The state of the execution, besides the status (C10)."""

    NONE = "none"
    EXECUTING = "executing"
    OUTCOME_UNKNOWN = "outcome_unknown"
    RETRYABLE = "retryable"
    DONE = "done"


class Assurance(enum.StrEnum):
    """How strongly the server knows that a person decided (C8)."""

    AGENT = "agent"
    LINK = "link"
    CLIENT = "client"
    CHAT_APP = "chat_app"
    PERSON = "person"
    PASSKEY = "passkey"


class Media(WireRecord):
    """An attached picture or film."""

    kind: str
    url: str
    alt: str = ""
    digest: str = ""
    """Digest of its bytes, if known, so that an approval covers the picture itself."""


NAMES_IN_A_SENTENCE: Final = 3
MAX_HEADLINE: Final = 80


def name_people(recipients: tuple[str, ...]) -> str:
    """`2 people: a@example.org, b@example.org`, shortened past three."""
    if not recipients:
        return "no one yet (recipients are missing)"
    if len(recipients) == 1:
        return with_ascii_form(recipients[0])
    shown = ", ".join(map(with_ascii_form, recipients[:NAMES_IN_A_SENTENCE]))
    more = len(recipients) - NAMES_IN_A_SENTENCE
    return f"{len(recipients)} people: {shown}" + (f" and {more} more" if more > 0 else "")


PERSON_LIKE: Final = re.compile(
    "customer|client|recipient|user|person|name|employee|member|contact|to|e-?mail|account|owner|patient|guest"
)
"""Names of arguments, or their last words, that say whom an effect concerns."""


def find_person(arguments: Mapping[str, Any]) -> str:
    """Return the first argument of one line that is called like a person; empty without one."""
    return next(
        (
            each
            for name, each in arguments.items()
            if isinstance(each, str)
            and each
            and is_one_line(each)
            and PERSON_LIKE.fullmatch(name.rpartition("_")[2])
        ),
        "",
    )


class Effect(WireRecord, kw_only=True, omit_defaults=True):
    """Everything that will be sent, and its destination."""

    channel: str
    verb: str
    connector: str
    body: str
    title: str = ""
    subject: str = ""
    preheader: str = ""
    html: str = ""
    recipients: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    visible: bool = False
    """Whether its recipients see each other, as those of a message with copies always do."""
    sender: str = ""
    reply_to: str = ""
    target: dict[str, str] | None = None
    media: tuple[Media, ...] = ()
    link: str = ""
    details: dict[str, Any] = {}
    schedule_ms: int | None = None
    """When the server sends it; for what a person does by hand, not before when."""
    schedule_offset: str = ""
    """The zone in which that time was given, such as `+01:00`; empty for UTC."""
    arguments: dict[str, Any] = {}
    """The arguments of an effect that is a function. Its body is their text form."""

    @property
    def type(self) -> str:
        """`<channel>_<verb>` (E43)."""
        return f"{self.channel}_{self.verb}"

    @property
    def everyone(self) -> tuple[str, ...]:
        """Whom a message reaches: its recipients, and those who get a copy."""
        return (*self.recipients, *self.cc)

    @property
    def is_open(self) -> bool:
        """Whether everyone whom it reaches sees the others."""
        return self.visible or bool(self.cc)

    @property
    def account_id(self) -> str | None:
        """The account that the target names."""
        return (self.target or {}).get("accountId")

    @property
    def concerns(self) -> str:
        """Whom or what it is about, if that is one: its recipient, its account, or the argument that names a person."""
        if self.everyone:
            return self.everyone[0] if len(self.everyone) == 1 else ""
        return self.account_id or find_person(self.arguments)

    @property
    def people(self) -> str:
        """Whom it reaches, in a sentence."""
        return name_people(self.everyone)

    @property
    def sender_in_ascii(self) -> str:
        """Its sender, with the ASCII form of an international domain."""
        return with_ascii_form(self.sender)

    @property
    def as_account(self) -> str:
        """` as NAME` if its account has a name, else an empty text."""
        account = (self.target or {}).get("account") or (self.target or {}).get("name")
        return f" as {account}" if account else ""

    def digest(self) -> str:
        return canonical.digest(self)


class PlannedTime(Record):
    """A time that a caller gave, with its zone (`Effect.schedule_offset`). None: at once."""

    ms: int | None
    offset: str = ""

    @classmethod
    def read(cls, path: str, text: str | None) -> PlannedTime | None:
        """Read the argument with the time at which something is to go out; None if none is given."""
        if text is None:
            return None
        if text == "now":
            return cls(None)
        parsed = parse_time(text)
        if parsed is None:
            raise bad_argument(path, "a time with a zone, such as 2027-01-31T09:00:00+01:00", repr(text[:40]))
        return cls(parsed, read_offset(text))


CREDITS_MISSING: Final = "credits_missing"
COSTS: Final = "This costs "
"""How the warning about missing credits begins."""
_TOO_COSTLY: Final = (
    COSTS + "{cost} credits and the workspace has {left}: it cannot be sent before credits are added."
)


class Preflight(WireRecord, kw_only=True):
    """Facts for the reviewer before the decision (E44)."""

    severity: Severity
    warnings: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    connector_ready: bool
    connector_blocker: str | None = None
    connector_fix_hint: str | None = None
    estimated_cost_credits: int = 0

    def with_balance(self, left: int | None) -> Preflight:
        """Add a gate if the cost exceeds the remaining credits. None means no limit.

        The warning does not raise the severity, because it is not about the content.
        """
        said = tuple(each for each in self.warnings if not each.startswith(COSTS))
        gates = tuple(gate for gate in self.gates if gate != CREDITS_MISSING)
        cost = self.estimated_cost_credits
        if left is not None and cost > left:
            said = (*said, _TOO_COSTLY.format(cost=cost, left=max(0, left)))
            gates = (*gates, CREDITS_MISSING)
        return msgspec.structs.replace(self, warnings=said, gates=gates)


class Attempt(Record, kw_only=True):
    """The latest execution attempt and the idempotency key of its caller."""

    attempt_id: str
    fence: int
    started_ms: int
    lease_until_ms: int
    tool: str
    key: str | None = None
    request_digest: str | None = None
    holder: str | None = None
    """The API key that owns the stored answer."""
    leased_ms: int = 0
    """When the lease of a repetition was taken; 0 before one."""
    barred_until_ms: int = 0
    """No new attempt before this time: the lease was over by a clock that was set back, so the call
    may have been in flight."""
    restored: bool = False
    """Whether it represents a send after the backup from which the store was restored. No one asked for
    it in this store, so it is looked up and never repeated."""
    lost_by_restore: bool = False
    """Whether a restore made its outcome unknown, and not a provider that did not answer."""

    @property
    def taken_ms(self) -> int:
        """When the present lease was taken."""
        return self.leased_ms or self.started_ms

    def is_held(self, now_ms: int) -> bool:
        """Whether a call may be in flight. A lease that was taken in the future is over: the clock was
        set back."""
        return self.taken_ms - CLOCKS_APART_MS <= now_ms < self.lease_until_ms

    def is_barred(self, now_ms: int) -> bool:
        """Whether a new attempt must wait. A bar that began in the future is over, as a lease is."""
        return self.lease_until_ms - CLOCKS_APART_MS <= now_ms < self.barred_until_ms


class Voice(WireRecord, omit_defaults=True):
    """One person's approval, as it counts for the policy."""

    approver: str
    """Key that identifies the approver (`assent.gate.gate.approver_key`)."""
    assurance: Assurance
    at_ms: int
    role: str = ""
    """The role of a signed-in approver."""


class Observation(WireRecord, kw_only=True, omit_defaults=True):
    """Facts that a person relies on and that the content does not fix (`assent.gate.rules.drift`). None and
    empty: not observed."""

    account: dict[str, str] = {}
    """The account at the provider: its id and name, and what else identifies it."""
    recipients: int | None = None
    recipients_digest: str = ""
    """Which people these are, if they are resolved when it is executed."""
    credits: int | None = None
    listed: int = 0
    """The price of its connector by the settings. The price of an action may be another."""
    amount: str = ""
    target: dict[str, Any] | None = None
    """The state of what would be changed, as its type observes it."""
    since_ms: int = 0


class Approval(WireRecord, kw_only=True):
    """An approval: the approver, the approved digest, the assurance."""

    by: str
    at_ms: int
    assurance: Assurance
    digest: str
    approvers: int = 1
    since: int = 0
    """The approved version of the action, which identifies this approval."""
    person_id: str = ""
    """The id of a signed-in approver. Names change, and two people may share one."""
    policy: str = ""
    """The digest of the policy under which it was given."""
    voices: tuple[Voice, ...] = ()
    """Everyone who approved."""
    observed: Observation | None = None
    """What was observed when it was given."""
    claimed: Assurance | None = None
    """What the server claims instead of `assurance`, if an agent could have given it (`assent boundary`)."""
    mac: str = ""
    """The seal, which only this server can compute (`assent.gate.seals`)."""

    @property
    def claim(self) -> Assurance:
        """The assurance that the server claims. Policies judge `assurance`."""
        return self.claimed or self.assurance


class Action(Record, kw_only=True):
    """A staged effect and its state. A change creates a new value with the next `version`."""

    workspace_id: WorkspaceId
    action_id: ActionId
    run_id: RunId
    tenant_id: TenantId | None
    asset_id: AssetId | None
    position: int
    version: int
    effect: Effect
    digest: str
    revision: int
    executor_tool: str
    status: Status
    execution_state: ExecutionState
    preflight: Preflight
    created_ms: int
    expires_ms: int | None
    schedule_ms: int | None = None
    approval: Approval | None = None
    rejection: str | None = None
    attempt: Attempt | None = None
    executed_ms: int | None = None
    external_id: str | None = None
    external_url: str | None = None
    metadata: dict[str, Any] = {}
    view: View = View()

    @property
    def provider_key(self) -> str:
        """The idempotency key for the provider: one per action and revision."""
        return f"{self.action_id}:{self.revision}"

    @property
    def headline(self) -> str:
        """One line: the title, the subject, or the first line of the text; of a call what it does, and with what."""
        effect, lines = self.effect, [line for line in self.effect.body.splitlines() if line.strip()]
        said = effect.title or effect.subject or next(iter(lines), "")
        if effect.arguments:
            named = self.view.title or self.view.noun
            told = [line for line in lines if line.partition(": ")[2] not in named]
            said = ": ".join(filter(None, (named, ", ".join(told))))
        elif self.view.removes:
            said = self.view.title
        return truncate(" ".join(said.split()), MAX_HEADLINE)

    @property
    def is_step(self) -> bool:
        """Whether it is the confirmation of a workflow step."""
        return self.effect.connector == WORKFLOW

    @property
    def may_lack_credits(self) -> bool:
        """Whether the balance of the workspace matters to it."""
        return CREDITS_MISSING in self.preflight.gates or bool(self.preflight.estimated_cost_credits)

    @property
    def is_by_hand(self) -> bool:
        """Whether a person recorded that they performed it, instead of a connector."""
        return self.view.executes == "person" or self.metadata.get(BY_HAND) is True

    @property
    def measure_after_ms(self) -> int | None:
        """How long after sending it is measured; None if it is not."""
        after_ms = self.metadata.get(MEASURE_AFTER)
        return after_ms if isinstance(after_ms, int) else None

    @property
    def gives_numbers(self) -> bool:
        """Whether its connector reads its results. Others are told by a person, or read for the whole run."""
        return self.view.measured and not self.is_by_hand

    @property
    def is_in_own_words(self) -> bool:
        """Whether it is a mail that is not part of a launch."""
        return self.metadata.get(OWN_WORDS) is True

    @property
    def is_personal(self) -> bool:
        """Whether it holds personal data: always by its type, or as a message to few recipients that is not part of a
        launch. Such a message is correspondence: its claims are not checked as marketing."""
        return self.view.personal == "always" or (self._reaches_few and self.is_in_own_words)

    @property
    def keeps_requests(self) -> bool:
        """Whether memory, which every agent of the workspace can read, keeps a request for later drafts: not about
        steps, personal data, or effects that no draft can learn from."""
        return self.view.teaches and not self.is_step and not self.is_personal

    @property
    def keeps_text(self) -> bool:
        """Whether memory keeps a decision with the present text. The text of an edited mail to few recipients may be
        about people, also in a launch."""
        return self.keeps_requests and not (self._reaches_few and self.revision > 1)

    @property
    def _reaches_few(self) -> bool:
        return self.view.personal == "few" and len(self.effect.everyone) <= MANY_RECIPIENTS

    def is_expired(self, now_ms: int) -> bool:
        """Whether it expired while it could be approved or sent (C10)."""
        if self.expires_ms is None or self.expires_ms > now_ms:
            return False
        waits = self.execution_state in (ExecutionState.NONE, ExecutionState.RETRYABLE)
        return waits and self.status in (Status.AWAITING_APPROVAL, Status.APPROVED)


class Asset(Record, kw_only=True):
    """A piece of content that a run produced (E4)."""

    workspace_id: WorkspaceId
    asset_id: AssetId
    run_id: RunId
    tenant_id: TenantId | None
    type: str
    title: str
    body: str
    channel: str | None = None
    metadata: dict[str, Any] = {}
    created_ms: int


class Run(Record, kw_only=True):
    """One call of an operator's prepare (E3). `parent_run_id` names the run that it continues."""

    workspace_id: WorkspaceId
    run_id: RunId
    tenant_id: TenantId | None
    operator: str
    tool: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    status: str
    parent_run_id: RunId | None
    created_ms: int
    links_from_ms: int = 0
    """Review links made before this time are invalid."""


PROPOSAL: Final = "proposal"
"""Metadata key: who proposed the action, as a `Proposal`."""


class Proposal(WireRecord, omit_defaults=True):
    """Who proposed an action."""

    operator: str = ""
    caller: str = ""
    """`key:ID` of the API key, or `local`."""
    label: str = ""
    """The label of the key."""
    person_id: str = ""
    """The person whose key it is, if that is known."""
    editors: tuple[tuple[int, str], ...] = ()
    """Revisions, and the approver keys of those who made them by an edit."""
    holder: str = ""
    """The first key of those that replaced each other, if the caller's is a later one."""
    test: bool = False
    """Whether a test key prepared, edited or approved it, once and for all."""

    @property
    def agent(self) -> str:
        """The agent that proposed it. A key that replaces another is the same agent."""
        return f"key:{self.holder}" if self.holder else self.caller


def find_stop(found: Iterable[Freeze], action: Action) -> Freeze | None:
    """Return what stops an action of those that stop something in its workspace."""
    return next((each for each in found if each.agent in ("", read_proposal(action).agent)), None)


def read_proposal(action: Action) -> Proposal:
    """Return who proposed an action."""
    return msgspec.convert(action.metadata.get(PROPOSAL) or {}, Proposal)


def is_test(action: Action) -> bool:
    """Whether an action is a test: it reaches an emulator or no one, by any way of executing it (E82)."""
    return read_proposal(action).test


def as_test(action: Action) -> Action:
    """Return an action that a test key edited or approved."""
    said = msgspec.to_builtins(msgspec.structs.replace(read_proposal(action), test=True))
    return msgspec.structs.replace(action, metadata={**action.metadata, PROPOSAL: said})


OBSERVED: Final = "observed"
"""Metadata key: the observation of the present content."""

BY_HAND: Final = "byHand"
"""Metadata key of an action that a person performed by hand."""


OUTCOME_TOLD: Final = "outcomeTold"
"""Metadata key: the assurance of the person who resolved an unknown outcome."""

UNDONE: Final = "undone"
"""Metadata key of an action that another one took back: when (`atMs`) and which (`by`)."""

ERASED: Final = "erased"
"""Metadata key of an action whose content was replaced by a notice: when (`atMs`)."""


def is_erased(action: Action) -> bool:
    return ERASED in action.metadata


def when_undone(action: Action) -> int | None:
    """Return when another action took this one back, else None."""
    found = action.metadata.get(UNDONE)
    return int(found["atMs"]) if isinstance(found, dict) else None


REFUSED_PEOPLE: Final = "refusedRecipients"
"""Metadata key: the addresses that a provider refused, because of which nothing was sent."""
OUTPUT: Final = "output"
"""Metadata key of the JSON that an effect returned for the agent."""
REST_OF: Final = "restOf"
"""Metadata key of the action for what was not delivered: the action that went out in part."""
REACHED: Final = "reached"
"""Metadata key of how many of its people a message reached: `2 of 3`."""
PARTLY: Final = "partly"
"""Metadata key: the part that was not delivered, in words for the reviewer."""
OFFERED_AS: Final = "restActionId"
"""Metadata key: the action that was staged for that part."""
STOPPED: Final = "stopped"
"""Metadata key: why the approval of the present revision was taken back, if it was."""
MEASURE_AFTER: Final = "measureAfterMs"
"""Metadata key: how long after sending an action is measured."""
NAME: Final = "name"
"""Metadata key: what people call an action on a channel where another one was open."""


def name_of(action: Action) -> str:
    """Return what people call an action in the chat: its channel, and a number where there are several."""
    return str(action.metadata.get(NAME, action.effect.channel))


def mark_stopped(action: Action, reason: str) -> Action:
    """Note that somebody has taken the approval back, so that nobody takes the action for one that never had one."""
    noted = {"revision": action.revision, "reason": reason}
    return msgspec.structs.replace(action, metadata={**action.metadata, STOPPED: noted})


def why_stopped(action: Action) -> str | None:
    """Return the reason, which may be empty, for which a waiting action's approval was taken back; else None."""
    noted = action.metadata.get(STOPPED)
    if not isinstance(noted, dict) or noted["revision"] != action.revision:
        return None
    return str(noted["reason"]) if action.status is Status.AWAITING_APPROVAL else None


CHANGES_ASKED: Final = "changesAsked"
"""Metadata key: what reviewers asked to be changed, oldest first."""


def list_change_requests(action: Action) -> list[dict[str, Any]]:
    """Return the change requests of an action, oldest first."""
    kept = action.metadata.get(CHANGES_ASKED)
    return [each for each in kept if isinstance(each, dict)] if isinstance(kept, list) else []


def find_wish(action: Action) -> dict[str, Any] | None:
    """Return the last request to change the present content of an action that waits; None without one."""
    asked = list_change_requests(action) if action.status is Status.AWAITING_APPROVAL else []
    return asked[-1] if asked and asked[-1].get("revision") == action.revision else None


def is_with_agent(action: Action) -> bool:
    """Whether an action waits for its agent: changes of its present content were asked for."""
    return find_wish(action) is not None


def is_rewritten(action: Action) -> bool:
    """Whether a person changed the text, so an approval does not cover the submission."""
    return bool(action.digest != action.metadata[SUBMITTED])


class Freeze(Record):
    """Where nothing is sent, since when, and who stopped it."""

    workspace_id: WorkspaceId
    since_ms: int
    by: str
    why: str
    agent: str = ""
    """The one agent that is stopped, as `Proposal.agent` names it; empty for all."""
    label: str = ""
    """The name of that agent."""

    @property
    def everywhere(self) -> bool:
        return self.workspace_id == SYSTEM_WORKSPACE

    @property
    def where(self) -> str:
        if self.agent:
            return f"for the agent {self.label or self.agent}"
        return "on this server" if self.everywhere else "in this workspace"

    @property
    def reason(self) -> str:
        """The reason as a sentence, with a space before it; empty without one."""
        return f" Reason: {self.why}{'' if self.why.endswith(('.', '!', '?')) else '.'}" if self.why else ""


def reached_addresses(action: Action) -> frozenset[str]:
    """Return whom an action reaches, by its facets, recipients and copies, normalised so that each mailbox
    counts once. A domain with `ß` is another one than that with `ss`, so that case alone is folded."""
    return frozenset(map(bare_address, (*action.view.facets.recipients, *action.effect.everyone)))


def bare_address(mailbox: str) -> str:
    """Return the address of a mailbox without its name, to compare it."""
    return mailbox.rpartition("<")[2].rstrip("> ").strip().lower()


IMAGE: Final = "image"
"""The type of a picture asset, and the kind of an attached picture."""


def name_path(run_id: str, digest: str) -> str:
    """Return the path where a run shows a picture."""
    return f"/runs/{run_id}/pictures/{digest.removeprefix(DIGEST_PREFIX)}.png"


def make_media(asset: Asset, run_id: RunId, base_url: str) -> Media | None:
    """Return a picture asset as media of an action; None if the asset is no picture."""
    digest = asset.metadata.get("digest")
    if asset.type != IMAGE or not isinstance(digest, str):
        return None
    return Media(kind=IMAGE, url=base_url + name_path(run_id, digest), alt=asset.body, digest=digest)
