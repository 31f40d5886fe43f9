"""The forms of an action and their initial values.

They depend on the action's state, its policy and the viewer's assurance. The engine checks again
when a form is submitted. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from assent.engine.actions.approvals import GivenApproval
from assent.engine.actions.remainder import AGAIN_AS
from assent.gate.effects import ARGUMENTS, EffectTypes
from assent.gate.policy import Requirement, holds, suffices
from assent.gate.records import Action, Assurance, Effect, Voice, is_erased
from assent.gate.review_link import APPROVE, REVIEW, Scope
from assent.gate.transitions import APPROVED, AWAITING, FAILED, RETRYABLE, UNKNOWN, state_of
from assent.gate.undo import can_be_undone, is_reverse
from assent.gate.views import Field, Severity
from assent.kernel.refusals import Problem
from assent.kernel.structs import Record
from assent.kernel.texts import indent_json, to_text
from assent.present.refusals import explain_missing_type

ARGUMENT: Final = f"{ARGUMENTS}."
ADDRESSES: Final = ("recipients", "cc")
"""Fields with an address on each line."""
"""Prefix of the fields that are arguments of a function."""


def write_value(value: Any) -> str:
    """Return an argument as text: nested values as indented JSON, nothing for null."""
    if value is None:
        return ""
    return indent_json(value) if isinstance(value, dict | list | tuple) else to_text(value)


def read_text(effect: Effect, name: str) -> str:
    """Return the present text of a field."""
    if name.startswith(ARGUMENT):
        return write_value(effect.arguments.get(name.removeprefix(ARGUMENT)))
    value = getattr(effect, name)
    return "\n".join(value) if isinstance(value, tuple) else str(value)


def list_fields(action: Action) -> tuple[Field, ...]:
    """Return the editable fields. One whose text has several lines gets a form field with several
    lines, which a browser does not join."""
    texts = read_texts(action)
    return tuple(
        msgspec.structs.replace(field, many=field.many or not {"\n", "\r"}.isdisjoint(texts[field.name]))
        for field in action.view.fields
    )


def read_texts(action: Action) -> dict[str, str]:
    """Return the present texts of all editable fields by name."""
    return {field.name: read_text(action.effect, field.name) for field in action.view.fields}


def locate_problems(problems: Iterable[Problem], names: Iterable[str]) -> dict[str, list[Problem]]:
    """Return the problems by the field of a form that each is about. `names`: the fields of the form;
    a problem of another one keeps the first part of its path."""
    known = tuple(names)
    found: dict[str, list[Problem]] = {}
    for problem in problems:
        paths = (problem.path, f"{ARGUMENT}{problem.path}")
        name = next(
            (
                each
                for each in known
                for path in paths
                if path == each or path.startswith((f"{each}.", f"{each}["))
            ),
            problem.path.partition(".")[0],
        )
        found.setdefault(name, []).append(problem)
    return found


OPEN: Final = frozenset({AWAITING, APPROVED, RETRYABLE, UNKNOWN})
"""States in which a person can still decide something."""


class RejectedForm(Record):
    """A rejected form: the problem, and the typed values."""

    action_id: str
    decision: str
    status: int
    title: str
    text: str
    wrong: dict[str, str] = msgspec.field(default_factory=dict)
    typed: dict[str, str] = msgspec.field(default_factory=dict)
    sign_in: bool = False
    reopen: bool = True
    """Whether the form is shown expanded for correction."""


class Form(Record):
    decision: str
    address: str
    nonce: str
    is_open: bool
    values: dict[str, str]
    wrong: dict[str, str]


class FormContext(Record):
    """The viewer, the time, and the data needed to build the forms."""

    assurance: Assurance
    name: str
    now_ms: int
    nonce: Callable[[Action, str], str]
    effects: EffectTypes
    tried: RejectedForm | None = None
    approver: str = ""
    """The approver key of the signed-in person."""
    seen: dict[str, int] = msgspec.field(default_factory=dict)
    """The revision of each action that this browser saw last."""
    opened: tuple[str, str] = ("", "")
    """The action and the decision whose form is shown expanded."""
    scope: Scope = REVIEW
    role: str = ""
    reach: Assurance = Assurance.LINK
    """What the viewer can come to by confirming."""
    undo_seconds: int = 0
    """How long what is approved here can be undone."""

    @property
    def voice(self) -> Voice:
        """The viewer's yes, as it counts for the policy once they have confirmed it."""
        return Voice(self.approver, self.reach, self.now_ms, self.role)


SENDING: Final = frozenset({"send", "publish"})
"""Decisions for which a link needs the execute scope."""


def permits(scope: Scope, decision: str, *, send_now: bool = False) -> bool:
    """A signed-in person has the widest scope."""
    if scope == REVIEW:
        return True
    return scope == APPROVE and decision not in SENDING and not send_now


def sends_at_once(action: Action) -> bool:
    """Whether the approval also executes the action, and not at a later time."""
    return action.view.approval_executes and action.schedule_ms is None


BATCH: Final = frozenset({Severity.LOW})
"""Severities for batch decisions: nothing leaves for another service or person."""


def completes(needed: Requirement, given: Iterable[GivenApproval], voice: Voice, action: Action) -> bool:
    """Whether this person's approval would be the last one that is missing."""
    if needed.approvers == 1 and not needed.groups:
        return True
    voices = {each.approver: each.voice for each in given} | {voice.approver: voice}
    return holds(voices.values(), needed, action)


def may_be_batched(action: Action) -> bool:
    """Whether a batch may include it. An HTML part needs its own page, for its frame."""
    return action.preflight.severity in BATCH and not action.effect.html


def may_be_tried_again(effects: EffectTypes, action: Action) -> bool:
    """Whether a failed action can be staged once more."""
    return (
        action.view.executes == "server"
        and AGAIN_AS not in action.metadata
        and not (is_erased(action) or is_reverse(action.effect))
        and not explain_missing_type(effects, action)
    )


def offer_decisions(
    action: Action, looking: FormContext, may_approve: bool, *, in_flight: bool, own_yes: bool = False
) -> tuple[str, ...]:
    """`own_yes`: the viewer has given one of several approvals."""
    state = state_of(action)
    if state == UNKNOWN:
        return ("resolve", *(("look_now",) if looking.approver else ()))
    if (
        can_be_undone(action, looking.now_ms)
        and looking.approver
        and not explain_missing_type(looking.effects, action)
    ):
        return ("undo",)
    if state == FAILED and looking.approver and may_be_tried_again(looking.effects, action):
        return ("again",)
    if action.is_expired(looking.now_ms) or state not in OPEN:
        return ()
    if explain_missing_type(looking.effects, action):
        return ("reject",) if state == AWAITING else ("withdraw", "reject")
    edit = ("edit",) if action.view.fields else ()
    if state == AWAITING:
        yes = ("approve",) if action.view.unfit is None else ()
        return (*(("withdraw",) if own_yes else yes), *edit, "ask", "reject")
    weaker = action.approval is not None and not suffices(action.approval.assurance, looking.assurance)
    confirm = ("approve",) if weaker and may_approve else ()
    send: tuple[str, ...] = ()
    if action.view.executes == "person":
        send = ("publish",)
    elif action.view.executes == "server" and action.schedule_ms is None and not in_flight:
        send = ("send",) if may_approve else ()
    return (*confirm, *send, *edit, "ask", "withdraw", "reject")


def build_forms(
    action: Action, looking: FormContext, may_approve: bool, *, in_flight: bool, own_yes: bool = False
) -> dict[str, Form]:
    tried = (
        looking.tried if looking.tried is not None and looking.tried.action_id == action.action_id else None
    )
    found = {}
    for decision in offer_decisions(action, looking, may_approve, in_flight=in_flight, own_yes=own_yes):
        executes = decision == "approve" and action.view.approval_executes
        if not permits(looking.scope, decision, send_now=executes):
            continue
        back = tried if tried is not None and tried.decision == decision else None
        found[decision] = Form(
            decision=decision,
            address=f"/runs/{action.run_id}/actions/{action.action_id}/{decision}",
            nonce=looking.nonce(action, decision),
            is_open=(back is not None and back.reopen)
            or decision == "resolve"
            or looking.opened == (action.action_id, decision),
            values={
                "name": looking.name,
                **read_texts(action),
                **(back.typed if back is not None else {}),
            },
            wrong=back.wrong if back is not None else {},
        )
    return found
