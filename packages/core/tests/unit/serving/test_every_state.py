"""Review page, row and pane of an action in every state that it can reach, judged by what they state and offer: who has
to do something, which decisions there are, what a button does. No sentence is compared, except with what is false."""

from __future__ import annotations

import itertools
import re
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from tests.support.builders import NOW_MS, approve, put_in, stage, write_mail
from tests.support.promises import find_promises
from tests.support.review.kit import forms

from assent.engine.actions.approvals import GivenApproval
from assent.engine.actions.remainder import with_offer
from assent.engine.views.inbox import Waiting
from assent.engine.views.review import RunReview
from assent.gate.effects import EffectType, EffectTypes
from assent.gate.outcomes import Remainder
from assent.gate.policy import Policy, Requirement
from assent.gate.preflight import Readiness
from assent.gate.records import (
    CHANGES_ASKED,
    WORKFLOW,
    Action,
    Approval,
    Assurance,
    Freeze,
    Run,
    is_with_agent,
)
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    RETRYABLE,
    STATES,
    UNKNOWN,
    state_of,
)
from assent.gate.views import Preview, View
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import DAY_MS
from assent.serving.web.inbox.rows import inbox_line, pane_values
from assent.serving.web.review import card as review_card
from assent.serving.web.review import naming
from assent.serving.web.review.forms import FormContext
from assent.serving.web.shell.rendering import NAVIGATION, _environment

UNDO_SECONDS: Final = 10
DETAIL: Final = "RuntimeError: the ledger is closed"
PAGES: Final = _environment(None, NAVIGATION)
PANE: Final = PAGES.from_string('{% from "inbox_pane.html" import pane %}{{ pane(item, person) }}')
TYPES: Final = EffectTypes(fallback=EffectType(channel="acme", verb="any"))
VIEWER: Final = "person:ada"

HOW: Final = {
    "server": View(noun="Post", via="Your mail server"),
    "at once": View(noun="Refund", via="Bank", approval_executes=True, preview=Preview("arguments")),
    "person": View(noun="Post", via="By hand", executes="person"),
    "agent": View(noun="Step", via="Workflow", executes="agent"),
}
YESES: Final = {
    "one": (1, ()),
    "none of two": (2, ()),
    "mine of two": (2, ("ada",)),
    "other of two": (2, ("bo",)),
}
TIMES: Final = {"now": None, "later": NOW_MS + DAY_MS, "before": NOW_MS - DAY_MS}


def every_case() -> list[dict[str, Any]]:
    names = ("state", "how", "yes", "time", "ready", "frozen", "asked")
    axes = (STATES, HOW, YESES, TIMES, (True, False), (False, True), (False, True))
    found = [dict(zip(names, each, strict=True)) for each in itertools.product(*axes)]
    return [
        case
        for case in found
        # Several approvals, a connection and a request matter while something is open; a step has no time.
        if (case["state"] in (AWAITING, APPROVED, RETRYABLE) or (case["ready"] and not case["asked"]))
        and (case["state"] == AWAITING or case["yes"] == "one")
        and (
            case["how"] != "agent" or (case["time"] == "now" and case["ready"] and case["state"] != RETRYABLE)
        )
        and (case["time"] != "later" or case["state"] in (AWAITING, APPROVED))
    ]


def make(case: dict[str, Any]) -> tuple[Action, RunReview]:
    effect = stage().effect
    if case["how"] == "agent":
        effect = replace(effect, connector=WORKFLOW, channel=WORKFLOW)
    effect = replace(effect, schedule_ms=TIMES[case["time"]])
    action = put_in(case["state"], effect)
    metadata = dict(action.metadata)
    if case["state"] in (RETRYABLE, UNKNOWN, FAILED):
        metadata |= {"lastAttempt": DETAIL, "providerReference": "req-77"}
    if case["asked"]:
        metadata[CHANGES_ASKED] = [
            {"text": "Shorter.", "by": "Bo", "assurance": "person", "revision": action.revision}
        ]
    action = replace(
        action,
        view=HOW[case["how"]],
        schedule_ms=TIMES[case["time"]],
        metadata=metadata,
        rejection="No." if case["state"].status == "rejected" else None,
        executed_ms=NOW_MS if case["state"].status == "executed" else None,
        expires_ms=NOW_MS + 9 * DAY_MS,
    )
    needed, names = YESES[case["yes"]]
    person = Requirement(Assurance.PERSON, approvers=needed)
    given = tuple(
        GivenApproval(f"person:{name}", name, Assurance.PERSON, NOW_MS, action.revision, "member", True)
        for name in names
    )
    frozen = Freeze(SYSTEM_WORKSPACE, NOW_MS, "Ada", "a wrong price") if case["frozen"] else None
    run = Run(
        workspace_id=action.workspace_id,
        run_id=action.run_id,
        tenant_id=None,
        operator="launch",
        tool="launch",
        inputs={},
        outputs={},
        status="done",
        parent_run_id=None,
        created_ms=NOW_MS,
    )
    return action, RunReview(
        run=run,
        workspace_name="Acme",
        actions=(action,),
        assets=(),
        policy=Policy(low=person, medium=person, high=person),
        events=(),
        approvals={action.action_id: given} if needed > 1 else {},
        approved={},
        revisions={},
        origins={},
        send_jobs={},
        frozen=(frozen,) if frozen else (),
    )


def draw(case: dict[str, Any]) -> tuple[Action, review_card.Card, str, str]:
    action, found = make(case)
    looking = FormContext(
        Assurance.PERSON,
        "",
        NOW_MS,
        lambda *_: "nonce",
        TYPES,
        approver=VIEWER,
        role="member",
        reach=Assurance.PASSKEY,
        undo_seconds=UNDO_SECONDS,
    )
    [card] = review_card.cards(found, {action.action_id: Readiness(case["ready"])}, looking)
    page = PAGES.get_template("review.html").render(
        {
            "person": None,
            "found": found,
            "cards": (card,),
            "headline": review_card.headline((card,), has_actions=True),
            "operator": "Launch",
            "prepared": card.expires,
            "askable": (),
            "rule_links": {},
            "here": "/",
            "theme": "",
            "tried": None,
            "done": None,
            "goal": "",
            "rest": (),
            "batch_nonce": "",
            "only_looking": False,
            "waiting": 0,
            "others": (),
            "loose_pictures": (),
            "looks_again": False,
            "end_links_nonce": "",
            "stop_nonce": "",
            "in_place": False,
        }
    )
    line = Waiting(action, found.policy, "Acme", "", "", found.approvals.get(action.action_id, ()))
    return (
        action,
        card,
        page,
        PANE.render(
            item={**pane_values(looking.effects, line, NOW_MS), "card": card, "done": None}, person=None
        ),
    )


def ball(case: dict[str, Any]) -> str:
    """Who has to do something, by the case alone."""
    state, how = case["state"], case["how"]
    if state == AWAITING:
        return "agent" if case["asked"] else "others" if case["yes"] == "mine of two" else "you"
    if state in (UNKNOWN, FAILED):
        return "you"
    if state not in (APPROVED, RETRYABLE):
        return "server" if state == EXECUTING else "nobody"
    if how == "agent":
        return "agent"
    if how == "person":
        return "you" if case["time"] != "later" else "server"
    if case["time"] == "later":
        return "server"
    return "you" if state == RETRYABLE else "server" if case["frozen"] else "agent"


def find_faults(case: dict[str, Any]) -> list[str]:
    action, card, page, pane = draw(case)
    plain = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    shown = forms(page)
    offered = {each.decision for each in shown if each.decision}
    sends_now = any(("then", "send", "") in each.buttons for each in shown)
    server = case["how"] in ("server", "at once")
    asks, missing = "approve" in offered, YESES[case["yes"]][0] - len(YESES[case["yes"]][1])
    said = {
        "ball": (re.findall('data-ball="([a-z]+)"', page), [ball(case)]),
        "offers a decision where there is one": (
            bool(offered),
            state_of(action) in (AWAITING, APPROVED, RETRYABLE, UNKNOWN)
            or (state_of(action) == FAILED and server),
        ),
        "one's own approval is withdrawn, not given again": (
            "withdraw" in offered and asks,
            False,
        ),
        "promises while frozen": (
            bool(case["frozen"] and server and case["state"] != EXECUTING and find_promises(page)),
            False,
        ),
        "sends while frozen or not ready": (
            bool(
                server
                and (case["frozen"] or not case["ready"])
                and (sends_now or ("send" in offered and case["frozen"]))
            ),
            False,
        ),
        "sends with approvals missing": (sends_now and missing > 1, False),
        "counts": (asks and missing > 1 and f"{3 - missing} of 2" not in plain, False),
        "undo": (
            asks and missing == 1 and not card.stopped and case["time"] == "now" and case["ready"] and server,
            f"{UNDO_SECONDS} seconds" in plain,
        ),
        "a connection was lost": ("lost the connection" in plain + pane, False),
        "what happened": (state_of(action) == UNKNOWN, DETAIL in plain and "req-77" in plain),
        "the pane knows it": (state_of(action) == UNKNOWN and DETAIL not in pane, False),
        "readers of a step": (case["how"] == "agent" and "readers" in plain.lower(), False),
        "nothing of nothing": ("0 rejected" in plain or "0 expired" in plain, False),
        "a name in a sentence": (
            "through Your" in plain or "once Your" in plain or "Connect Your" in plain,
            False,
        ),
        "with its agent": (card.with_agent, is_with_agent(action)),
    }
    return [f"{name}: {found} is not {wanted}" for name, (found, wanted) in said.items() if found != wanted]


def test_each_screen_is_true_in_every_state_of_an_action() -> None:
    faults: dict[str, list[str]] = {}
    for case in every_case():
        for fault in find_faults(case):
            faults.setdefault(fault, []).append(" ".join(f"{name}={value}" for name, value in case.items()))
    assert faults == {}, "\n".join(f"{fault} ({len(where)}): {where[0]}" for fault, where in faults.items())


def test_an_approval_says_where_it_was_given_and_nothing_else() -> None:
    action, _ = make({**every_case()[0], "state": APPROVED, "how": "server"})
    given = msgspec.structs.replace(
        approve(action).approval or Approval(by="", at_ms=0, assurance=Assurance.CLIENT, digest=""),
        assurance=Assurance.CLIENT,
    )
    shown = {via: naming.describe_assurance(given, via) for via in ("review page", "chat")}
    assert "chat" in shown["chat"] and "chat" not in shown["review page"]


def test_a_row_says_how_many_people_a_message_reached() -> None:
    sent = put_in(EXECUTED, write_mail(recipients=("a@example.org", "b@example.org", "c@example.org")))
    left = replace(sent.effect, recipients=("c@example.org",))
    partly = with_offer(sent, Remainder(left, "a and b", "no such mailbox"), stage(left))
    partly = replace(partly, executed_ms=NOW_MS, view=replace(sent.view, done="Sent"))

    row = inbox_line(TYPES, Waiting(partly, Policy(), "Acme", "Claude"), NOW_MS)

    assert "2 of 3" in row["note"]
    assert "2 of 3" in naming.status_badge(partly, NOW_MS).text
