"""The review page's forms (C8, C25): from fields to the use cases.

Each function reads the fields of its form and calls the use case that the tools call, too.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, get_args
from urllib.parse import urlsplit

import msgspec

from assent.engine.actions import pictures
from assent.engine.core.services import Services
from assent.gate.effects import ARGUMENTS
from assent.gate.gate import Decider, SeenVersion
from assent.gate.names import is_taken
from assent.gate.policy import suffices
from assent.gate.records import Action, Assurance, Media, Proposal
from assent.kernel.limits import MAX_ASKED_CHARS, MAX_NAME_CHARS, MAX_REASON_CHARS
from assent.kernel.refusals import Refusal
from assent.ports import Transaction
from assent.serving.web.people.people import is_name
from assent.serving.web.review.access import Viewer
from assent.serving.web.review.forms import ADDRESSES, ARGUMENT, read_texts
from assent.serving.web.review.problems import BadFields, NeedsPerson
from assent.tools.arguments import require_addresses
from assent.use_cases import decisions, executions
from assent.use_cases.decisions import DecisionOrder, Write
from assent.use_cases.executions import Outcome

MAX_DECISION_BYTES: Final = 1_572_864
"""Room for the longest text that can be approved, with every character percent-encoded."""

_REVISION: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class SubmittedForm:
    services: Services
    viewer: Viewer
    decider: Decider
    action: Action
    """As it is in the store, which may be newer than the form."""
    form: dict[str, str]
    base_url: str
    write: Write[Action, Action]
    """Checks access again in the transaction of the decision."""

    @property
    def wish(self) -> DecisionOrder:
        shown = self.form.get("revision")
        revision = int(shown) if shown is not None and _REVISION.fullmatch(shown) else None
        seen = SeenVersion(revision, self.form.get("digest", ""))
        sends, comment = self.form.get("then") == "send", read_comment(self.form)
        return DecisionOrder(self.decider, self.action, seen, sends, comment)


def read_name(viewer: Viewer, form: dict[str, str], known: tuple[tuple[str, str | None], ...] = ()) -> str:
    """Return the name that a link's holder gave. `known`: names and addresses that are taken."""
    name = " ".join(form.get("name", "").split())
    if viewer.session is None and not is_name(name):
        raise BadFields({"name": f"Enter your name, with at most {MAX_NAME_CHARS} characters."})
    if viewer.session is None and is_taken(name, known):
        raise BadFields(
            {
                "name": "This name belongs to someone who can sign in here, or to a role. Sign in to decide under it, "
                "or give another name."
            }
        )
    return name


def read_comment(form: dict[str, str]) -> str:
    """Return what a person writes with an approval."""
    return form.get("comment", "").strip()[:MAX_REASON_CHARS]


def _require_person(viewer: Viewer) -> None:
    """Ask a person who can confirm to do it."""
    if suffices(viewer.reach, Assurance.PERSON) and not suffices(viewer.assurance, Assurance.PERSON):
        raise NeedsPerson


async def approve(given: SubmittedForm) -> Action:
    """Approve. A person who confirms an agent's or a link's approval does so as a person."""
    held, viewer = given.action.approval, given.viewer
    if held is not None and not suffices(held.assurance, viewer.assurance):
        _require_person(viewer)
    return await decisions.approve(given.services, given.wish, given.write, undo=True)


async def send(given: SubmittedForm) -> Action:
    """Send an approved action with the same job. A signed-in person also confirms the approval."""
    wish = msgspec.structs.replace(given.wish, send=True)
    return await decisions.approve(given.services, wish, given.write)


async def reject(given: SubmittedForm) -> Action:
    reason = _text(given.form, "reason", "Say why in a few words, so that the next draft is better.")
    return await decisions.reject(given.services.clock, given.wish, reason, given.write)


async def ask(given: SubmittedForm) -> Action:
    text = _text(given.form, "text", "Say what should be different.")
    return await decisions.ask_for_changes(given.services.clock, given.wish, text, given.write)


async def withdraw(given: SubmittedForm) -> Action:
    reason = given.form.get("reason", "").strip()[:MAX_REASON_CHARS]
    return await decisions.withdraw(given.services.clock, given.wish, reason, given.write)


async def edit(given: SubmittedForm) -> Action:
    read = partial(_pick_media, given.action, given.form, given.base_url)
    changed = changes(given.action, given.form, await given.services.store.read(read))
    asked = given.form.get("asked", "").strip()[:MAX_ASKED_CHARS]
    return await decisions.edit(given.services, given.wish, changed, given.write, asked=asked)


def _pick_media(action: Action, form: dict[str, str], base_url: str) -> Transaction[tuple[Media, ...] | None]:
    """The pictures selected in the form; None if it has no picture fields."""
    asset_id = form.get("imageAssetId")
    if asset_id is None:
        return None
    try:
        return (yield from pictures.pick(action, asset_id, base_url))
    except Refusal:
        raise BadFields({"imageAssetId": "This picture is not here any more. Pick another one."}) from None


def changes(action: Action, form: dict[str, str], media: tuple[Media, ...] | None = None) -> dict[str, Any]:
    """Return the fields that differ from the form's initial values, line ends aside."""
    effect, before = action.effect, read_texts(action)
    typed = {name: form[name] for name, text in before.items() if form.get(name, text) != _plain_lines(text)}
    arguments = {
        name.removeprefix(ARGUMENT): text for name, text in typed.items() if name.startswith(ARGUMENT)
    }
    found: dict[str, Any] = {name: text for name, text in typed.items() if not name.startswith(ARGUMENT)}
    if arguments:
        found[ARGUMENTS] = arguments
    for name in found.keys() & {*ADDRESSES, "reply_to"}:
        text = found.pop(name)
        lines = re.split(r"[,;\n]", text) if name in ADDRESSES else [text]
        read = require_addresses(name, [line for line in lines if line.strip()])
        value = read if name in ADDRESSES else "".join(read)
        if value != getattr(effect, name):
            found[name] = value
    if media is not None and [each.digest for each in media] != [each.digest for each in effect.media]:
        found["media"] = media
    if "body" in found and not found["body"].strip():
        raise BadFields({"body": "There must be some text. To stop this from going out, reject it."})
    if not found:
        first = next(iter(before), "body")
        raise BadFields({first: "Nothing is different yet. Change something, then save."})
    return found


async def resolve(given: SubmittedForm) -> Action:
    outcome: Outcome | None = next(
        (each for each in get_args(Outcome) if each == given.form.get("outcome")), None
    )
    if outcome is None:
        raise BadFields({"outcome": "Choose one of the three answers."})
    evidence = _text(given.form, "evidence", "Say what you saw: the address of it, or where you looked.")
    return await executions.resolve(given.services.clock, given.wish, outcome, evidence, given.write)


async def look_now(given: SubmittedForm) -> Action:
    """Let the provider of an unknown outcome be asked at once."""
    return await executions.look_now(given.services, given.wish, given.write)


async def publish(given: SubmittedForm) -> Action:
    """Record that a person published an approved action by hand, and where."""
    url = given.form.get("url", "").strip()
    without = not url and not given.action.view.has_address
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable()
    except ValueError:
        good = False
    if not without and (not good or " " in url or len(url) > MAX_REASON_CHARS):
        raise BadFields(
            {"url": "Enter the whole address at which it can be seen, such as https://example.org/post."}
        )
    return await executions.record_by_hand(given.services, given.wish, url or None, given.write)


async def again(given: SubmittedForm) -> Action:
    """Stage the effect of a failed action again. The new action waits for its own approval."""
    if given.viewer.session is None:
        raise NeedsPerson
    return await executions.try_again(given.services.clock, given.wish, given.write)


async def undo(given: SubmittedForm) -> Action:
    """Stage what takes an executed action back. It waits for its own approval."""
    if given.viewer.session is None:
        raise NeedsPerson
    person, executed = given.viewer.session.person, given.action
    proposal = Proposal(label=person.label, person_id=person.person_id)
    return await executions.undo(given.services, given.decider, executed, proposal, given.write)


DECISIONS: Final[dict[str, Callable[[SubmittedForm], Awaitable[Action]]]] = {
    "approve": approve,
    "send": send,
    "edit": edit,
    "ask": ask,
    "reject": reject,
    "withdraw": withdraw,
    "resolve": resolve,
    "look_now": look_now,
    "publish": publish,
    "again": again,
    "undo": undo,
}


def _text(form: dict[str, str], name: str, advice: str) -> str:
    text = form.get(name, "").strip()
    if not text:
        raise BadFields({name: advice})
    if len(text) > MAX_REASON_CHARS:
        raise BadFields({name: f"Shorten this to {MAX_REASON_CHARS:,} characters; it has {len(text):,}."})
    return text


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
