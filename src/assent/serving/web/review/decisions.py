"""The review page's forms (C8, C25): from fields to the engine's decisions.

Each function runs inside the transaction that has checked access and locked the action. The page
uses the same functions as the tools and has the same rights, with one restriction: only a signed-in
person may resolve an unknown outcome as "did not happen", because that permits a second send.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from assent.engine.actions import by_hand, change_requests, decisions, reconciliation, remainder
from assent.engine.actions.editing import PreparedEdit
from assent.engine.learning import pictures
from assent.engine.views import review
from assent.gate.arguments import ARGUMENTS
from assent.gate.gate import Decider, SeenVersion
from assent.gate.names import is_taken
from assent.gate.policy import suffices
from assent.gate.records import Action, Assurance, Media
from assent.gate.seals import Seals
from assent.kernel.limits import MAX_ASKED_CHARS, MAX_NAME_CHARS, MAX_REASON_CHARS
from assent.kernel.refusals import Refusal
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.present.refusals import refuse_stale
from assent.serving.web.people.people import is_name
from assent.serving.web.review.access import Viewer
from assent.serving.web.review.fields import ARGUMENT, read_texts
from assent.serving.web.review.problems import BadFields, NeedsPerson
from assent.tools.arguments import addresses

MAX_DECISION_BYTES: Final = 1_572_864
"""Room for the longest text that can be approved, with every character percent-encoded."""

_REVISION: Final = re.compile(r"[0-9]{1,9}")

OUTCOMES: Final = ("happened", "did_not_happen", "not_yet_known")


class SubmittedForm(Record):
    viewer: Viewer
    decider: Decider
    action: Action
    form: dict[str, str]
    now_ms: int
    seals: Seals
    base_url: str = ""
    prepared: PreparedEdit | Refusal | None = None
    undo_ms: int = 0

    @property
    def seen(self) -> SeenVersion:
        shown = self.form.get("revision")
        revision = int(shown) if shown is not None and _REVISION.fullmatch(shown) else None
        return SeenVersion(revision, self.form.get("digest", ""))


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


def _require_person(viewer: Viewer) -> None:
    """Ask a person who can confirm to do it."""
    if suffices(viewer.reach, Assurance.PERSON) and not suffices(viewer.assurance, Assurance.PERSON):
        raise NeedsPerson


def _no_link(action: Action) -> str | None:
    """No link in refusals: the reader is already on the review page."""
    return None


def approve(wish: SubmittedForm) -> Transaction[Action]:
    """Approve. A person who confirms an agent's or a link's approval does so as a person."""
    held, viewer = wish.action.approval, wish.viewer
    if held is not None and not suffices(held.assurance, viewer.assurance):
        _require_person(viewer)
    return (yield from _approve(wish, send_now=wish.form.get("then") == "send", undo_ms=wish.undo_ms))


def send(wish: SubmittedForm) -> Transaction[Action]:
    """Send an approved action with the same job. A signed-in person also confirms the approval."""
    return (yield from _approve(wish, send_now=True))


def _approve(wish: SubmittedForm, *, send_now: bool, undo_ms: int = 0) -> Transaction[Action]:
    action = yield from decisions.approve(
        wish.decider,
        wish.action.action_id,
        wish.seen,
        _no_link,
        wish.now_ms,
        seals=wish.seals,
        send_now=send_now,
        undo_ms=undo_ms,
    )
    if send_now:
        yield from review.send_again(action, wish.now_ms)
    return action


def reject(wish: SubmittedForm) -> Transaction[Action]:
    reason = _text(wish.form, "reason", "Say why in a few words, so that the next draft is better.")
    return (
        yield from decisions.reject(
            wish.decider, wish.action.action_id, reason, wish.seen, _no_link, wish.now_ms
        )
    )


def ask(wish: SubmittedForm) -> Transaction[Action]:
    text = _text(wish.form, "text", "Say what should be different.")
    return (
        yield from change_requests.ask_for_changes(
            wish.decider, wish.action.action_id, text, wish.seen, _no_link, wish.now_ms
        )
    )


def withdraw(wish: SubmittedForm) -> Transaction[Action]:
    _refuse_unseen(wish)
    reason = wish.form.get("reason", "").strip()[:MAX_REASON_CHARS]
    return (yield from decisions.withdraw(wish.decider, wish.action.action_id, reason, _no_link, wish.now_ms))


def _refuse_unseen(wish: SubmittedForm) -> None:
    if not wish.seen.matches(wish.action):
        raise refuse_stale(wish.action)


def edit(wish: SubmittedForm) -> Transaction[Action]:
    """Store the edit. The fields are read again, so that a bad one is named before anything
    else."""
    yield from read_edit(wish.action, wish.form, wish.base_url)
    return (
        yield from decisions.edit(
            wish.decider,
            wish.action.action_id,
            wish.prepared,
            wish.seen,
            _no_link,
            wish.now_ms,
            asked=wish.form.get("asked", "").strip()[:MAX_ASKED_CHARS],
        )
    )


def read_edit(action: Action, form: dict[str, str], base_url: str) -> Transaction[dict[str, Any]]:
    """Return the changes of a form. Raises `BadFields`."""
    media = yield from _pick_media(action, form, base_url)
    return changes(action, form, media)


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
    if "recipients" in found:
        lines = found.pop("recipients").replace(",", "\n").replace(";", "\n").split("\n")
        recipients = addresses("recipients", [line for line in lines if line.strip()])
        if recipients != effect.recipients:
            found["recipients"] = recipients
    if media is not None and [each.digest for each in media] != [each.digest for each in effect.media]:
        found["media"] = media
    if "body" in found and not found["body"].strip():
        raise BadFields({"body": "There must be some text. To stop this from going out, reject it."})
    if not found:
        first = next(iter(before), "body")
        raise BadFields({first: "Nothing is different yet. Change something, then save."})
    return found


def resolve(wish: SubmittedForm) -> Transaction[Action]:
    outcome = wish.form.get("outcome", "")
    if outcome not in OUTCOMES:
        raise BadFields({"outcome": "Choose one of the three answers."})
    if outcome == "did_not_happen" and not suffices(wish.viewer.assurance, Assurance.PERSON):
        raise NeedsPerson
    evidence = _text(wish.form, "evidence", "Say what you saw: the address of it, or where you looked.")
    facts = {
        "by": wish.decider.by,
        "assurance": wish.decider.assurance,
        "via": wish.decider.via,
        "evidence": evidence,
    }
    if outcome == "not_yet_known":
        return (yield from review.record_unknown(wish.viewer.run, wish.action.action_id, facts, wish.now_ms))
    return (
        yield from reconciliation.resolve(
            wish.viewer.run.workspace_id, wish.action.action_id, outcome == "happened", facts, wish.now_ms
        )
    )


def look_now(wish: SubmittedForm) -> Transaction[Action]:
    """Let the provider of an unknown outcome be asked at once."""
    facts = {"by": wish.decider.by, "via": wish.decider.via}
    workspace_id = wish.viewer.run.workspace_id
    return (yield from reconciliation.ask_again(workspace_id, wish.action.action_id, facts, wish.now_ms))


def publish(wish: SubmittedForm) -> Transaction[Action]:
    """Record that a person published an approved action by hand, and where."""
    url = wish.form.get("url", "").strip()
    without = not url and not wish.action.view.has_address
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable()
    except ValueError:
        good = False
    if not without and (not good or " " in url or len(url) > MAX_REASON_CHARS):
        raise BadFields(
            {"url": "Enter the whole address at which it can be seen, such as https://example.org/post."}
        )
    _refuse_unseen(wish)
    return (
        yield from by_hand.record_publish(
            wish.decider, wish.action.action_id, url or None, _no_link, wish.now_ms, seals=wish.seals
        )
    )


def again(wish: SubmittedForm) -> Transaction[Action]:
    """Stage the effect of a failed action again. The new action waits for its own approval."""
    if wish.viewer.session is None:
        raise NeedsPerson
    return (yield from remainder.stage_again(wish.decider, wish.action.action_id, wish.now_ms))


DECISIONS: Final[dict[str, Callable[[SubmittedForm], Transaction[Action]]]] = {
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
