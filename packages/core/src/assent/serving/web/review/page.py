"""The review page (S0 §4): a run, everything that would go out, and the forms to decide.

    GET  /runs/{run}?token=…                    a good link becomes a cookie and this clean address:
    GET  /runs/{run}                            the page. Looking changes nothing
    POST /runs/{run}/actions/{action}/{decision}  a decision about exactly the content that was shown
    POST /runs/{run}/end-links                  a signed-in person ends the links of a run

Plain forms, no script. A form carries revision and digest of what was shown, and a nonce bound to this
browser, action, digest and decision; what does not fit is answered with the page as it is now. What
needs more than the cookie is answered with the confirm page (`people.confirming`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from assent.engine.actions import actions, approvals, content
from assent.engine.actions.approvals import GivenApproval
from assent.engine.actions.content import describe
from assent.engine.actions.reconciliation import can_be_asked
from assent.engine.core import freezes, tenancy
from assent.engine.core.offloading import run_apart
from assent.engine.core.services import Services
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, proofs
from assent.engine.views import inbox, review
from assent.engine.views.review import RunReview
from assent.gate.gate import Decider
from assent.gate.policy import RANK, Policy
from assent.gate.records import Action, Assurance, Run, find_stop
from assent.gate.review_link import LOOK
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    REJECTED,
    RETRYABLE,
    UNKNOWN,
    state_of,
)
from assent.gate.views import Field
from assent.kernel.ids import is_uuid, require_action_id
from assent.kernel.limits import MAX_CONTENT_CHARS, SECOND_MS
from assent.kernel.refusals import Refusal
from assent.kernel.structs import Record
from assent.ports import Begin, Connector, Transaction
from assent.present.refusals import describe_freeze, explain_missing_type
from assent.present.status_report import describe_run
from assent.serving.web.people.confirming import USED_PROOF, Confirming
from assent.serving.web.people.people import find_session
from assent.serving.web.review import card as review_card
from assent.serving.web.review import decisions as review_decisions
from assent.serving.web.review import problems as review_problems
from assent.serving.web.review.access import (
    NO_LINK,
    PresentedAccess,
    ReviewAccess,
    Viewer,
    admit,
    find_run,
    lead_back,
)
from assent.serving.web.review.card import Card
from assent.serving.web.review.content import build_preview, frame, list_unattached
from assent.serving.web.review.decisions import DECISIONS, MAX_DECISION_BYTES, SubmittedForm
from assent.serving.web.review.forms import (
    ADDRESSES,
    FormContext,
    RejectedForm,
    list_fields,
    locate_problems,
    permits,
    read_texts,
)
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.naming import is_function, say_effect
from assent.serving.web.review.problems import NO_SUCH_ACTION, BadFields, NeedsPerson
from assent.serving.web.shell.console import PLACE_COOKIE, Screen, find_empty_places
from assent.serving.web.shell.forms import Browser, FormNonces, read_form
from assent.serving.web.shell.headers import (
    DECIDING_HEADERS,
    FRAMED_HEADERS,
    FRAMING_HEADERS,
    SCRIPTED_HEADERS,
    PageResponse,
    see_other,
)
from assent.serving.web.shell.lists import whole_number, with_query
from assent.serving.web.shell.page_site import PageSite
from assent.serving.web.shell.problems import NOT_FOUND, STALE_FORM, AnswerInstead, PageRefused
from assent.serving.web.shell.rendering import page
from assent.serving.web.shell.times import when
from assent.serving.web.shell.word_diff import PAGE_STEPS, LabelledDiff, word_diff
from assent.use_cases import runs


class ReviewPages:
    """`/runs/{run_id}` and the targets of its forms."""

    def __init__(self, site: PageSite, added: tuple[Screen, ...]) -> None:
        """`added` are the screens of extensions."""
        self._site = site
        self._added = added

    async def run(self, request: Request) -> Response:
        """Show the page, or exchange a valid link for a cookie."""
        run_id, now_ms = request.path_params["run_id"], self._site.services.clock.now_ms()
        access = await self._access()
        claims = access.link(request, run_id, now_ms)
        if claims is not None:
            await self._site.count_link(claims)
            await self._site.services.store.read(lambda: find_run(claims))
            return access.swap(request, claims, now_ms)
        shown = access.shown(request, run_id, now_ms)
        await self._site.count(shown)
        try:
            return await self._show(request, shown)
        except PageRefused as refused:
            raise lead_back(refused, request) from None

    async def decide(self, request: Request) -> Response:
        """Handle a form about one action. Makes the same records as the tools (E21)."""
        run_id, action_id = request.path_params["run_id"], request.path_params["action_id"]
        decision = DECISIONS.get(request.path_params["decision"])
        if decision is None:
            raise PageRefused(NOT_FOUND)
        if request.method != "POST" and request.path_params["decision"] == "edit":
            return await self.edit(request)
        if request.method != "POST":
            return see_other(f"/runs/{run_id}")
        shown = await self._require_access(request, run_id)
        form = await read_form(request, MAX_DECISION_BYTES)
        name = request.path_params["decision"]
        try:
            about = subject(run_id, action_id, form.get("digest", ""), name)
            shown_ms = await self._check_nonce(request, form, about)
            shown = await self._add_proof(request, shown, form)
            if name == "edit" and form.get("then") == "compare":
                return await self.edit(request, form)
            if form.get("asks") and shown.proof is None:
                raise await self._ask_first(request, shown, form)
            given = await self._read_form(shown, action_id, name, form, shown_ms)
            action = await decision(given)
        except PageRefused as stale:
            if stale.problem is not STALE_FORM:
                raise
            refused: Exception = stale
        except (Refusal, BadFields, NeedsPerson) as problem:
            refused = problem
        else:
            return await self._finish(given.viewer, action, name, form)
        if isinstance(refused, Refusal | NeedsPerson):
            confirming, found = await self._confirming(), await self._look_up(request, shown)
            counted = await self._site.services.store.read(partial(list_counted, *found[1:]))
            await review_problems.ask_to_confirm(confirming, request, (*found, counted), refused, form)
        return await self._show(request, shown, review_problems.explain(refused, action_id, name, form))

    async def _ask_first(
        self, request: Request, shown: PresentedAccess, form: dict[str, str]
    ) -> AnswerInstead:
        """The confirm page of a decision that is pressed twice, whatever the cookie counts for."""
        viewer, action, policy = await self._look_up(request, shown)
        if viewer.session is None:
            raise PageRefused(STALE_FORM)
        what = review_problems.describe(action, request.path_params["decision"], form)
        needed = max(policy.require(action).assurance, Assurance.PERSON, key=RANK.__getitem__)
        confirming = await self._confirming()
        return AnswerInstead(await confirming.ask(request, viewer.session, form, what, needed))

    async def _add_proof(
        self, request: Request, shown: PresentedAccess, form: dict[str, str]
    ) -> PresentedAccess:
        """The access with what was signed on the confirm page."""
        session = await find_session(self._site.services, self._site.cookies, request)
        if session is None:
            return shown
        proof = await (await self._confirming()).read(request, session, form)
        return msgspec.structs.replace(shown, proof=proof)

    async def _confirming(self) -> Confirming:
        site = self._site
        return Confirming(site.services, await site.nonces(), base_url=site.base_url)

    async def end_links(self, request: Request) -> Response:
        run_id = request.path_params["run_id"]
        shown = await self._require_access(request, run_id)
        form = await read_form(request)
        await self._check_nonce(request, form, f"end-links {run_id}")
        now_ms = self._site.services.clock.now_ms()

        def admit_person() -> Transaction[tuple[Run, Decider]]:
            viewer = yield from admit(shown, now_ms)
            if viewer.session is None:
                raise PageRefused(NO_LINK)
            return viewer.run, viewer.decider("")

        await runs.end_links(self._site.services, admit_person)
        return see_other(f"/runs/{run_id}?did=end-links")

    async def _read_form(
        self, shown: PresentedAccess, action_id: str, decision: str, form: dict[str, str], shown_ms: int
    ) -> SubmittedForm:
        """Read who decides about what. Access and rights are checked again in the transaction that decides."""
        now_ms = self._site.services.clock.now_ms()

        def look() -> Transaction[tuple[Viewer, Decider, Action]]:
            viewer = yield from admit(shown, now_ms)
            known: tuple[tuple[str, str | None], ...] = ()
            if viewer.session is None:
                known = yield from members.names_in(viewer.run.workspace_id)
            decider = viewer.decider(review_decisions.read_name(viewer, form, known), shown_ms)
            action, _ = yield from find_action(viewer, action_id)
            executes = form.get("then") == "send" or (decision == "approve" and action.view.approval_executes)
            if not permits(viewer.scope, decision, send_now=executes):
                raise NeedsPerson
            return viewer, decider, action

        viewer, decider, action = await self._site.services.store.read(look)

        async def write(begin: Begin[Action]) -> Action:
            def decide() -> Transaction[Action]:
                _, present, _ = yield from look()
                if shown.proof is not None and not (yield from proofs.use(shown.proof, now_ms)):
                    raise PageRefused(USED_PROOF)
                if present != decider:
                    raise PageRefused(STALE_FORM)
                return (yield from begin())

            return await self._site.services.store.write(decide)

        services = self._site.services.for_workspace(action.workspace_id)
        return SubmittedForm(services, viewer, decider, action, form, self._site.base_url, write)

    async def _finish(self, viewer: Viewer, action: Action, decision: str, form: dict[str, str]) -> Response:
        executes = form.get("then") == "send" or action.view.approval_executes
        sent = decision == "send" or (decision == "approve" and executes)
        if decision == "approve" and state_of(action) == AWAITING:
            decision = "recorded"
        did = "send" if sent and decision != "recorded" else decision
        if decision in ("again", "undo") or (decision == "edit" and form.get("then") == "approve"):
            here = f"/runs/{action.run_id}?did={decision}&action={action.action_id}&open=approve"
            return see_other(f"{here}#action-{action.action_id}")
        now_ms = self._site.services.clock.now_ms()
        then = await self._site.services.store.read(lambda: find_next(viewer, action, did, now_ms))
        if form.get("pane"):
            said = {"did": did, "action": action.action_id, **({"next": "1"} if then is not None else {})}
            return see_other(f"/inbox/pane/{(then or action).action_id}?{urlencode(said)}")
        response = see_other(lead_on(action, did, then))
        if viewer.session is None:
            self._site.cookies.keep_name(response, review_decisions.read_name(viewer, form))
        return response

    async def _show(
        self, request: Request, shown: PresentedAccess, tried: RejectedForm | None = None
    ) -> Response:
        now_ms, store = self._site.services.clock.now_ms(), self._site.services.store

        def look() -> Transaction[tuple[Viewer, RunReview, int, Action | None, str]]:
            viewer = yield from admit(shown, now_ms)
            waiting = 0
            if viewer.session is not None:
                waiting = yield from members.count_waiting(viewer.session.person, now_ms)
                request.state.empty_places = yield from find_empty_places(
                    self._added, viewer.run.workspace_id
                )
            effects = self._site.services.for_workspace(viewer.run.workspace_id).effects
            found = yield from review.read_review(viewer.run, effects, now_ms, for_member=bool(viewer.role))
            decided = yield from find_decided(request, viewer, found)
            if decided is None:
                return viewer, found, waiting, None, ""
            frozen = find_stop((yield from freezes.list_in(decided.workspace_id)), decided)
            return viewer, found, waiting, decided, describe_freeze(frozen, decided)

        viewer, found, waiting, decided, stopped = await store.read(look)
        services = self._site.services.for_workspace(viewer.run.workspace_id)
        nonces = await self._site.nonces()
        browser = nonces.browser(request)

        def nonce(action: Action, decision: str) -> str:
            about = subject(action.run_id, action.action_id, action.digest, decision)
            return nonces.issue(browser, about, now_ms)

        name = self._site.cookies.name_given(request)
        seen = self._site.cookies.seen(request)
        looking = FormContext(
            viewer.assurance,
            name,
            now_ms,
            nonce,
            services.effects,
            tried,
            viewer.approver,
            {each.action_id: seen[end] for each in found.actions if (end := _short(each)) in seen},
            (request.query_params.get("action", ""), request.query_params.get("open", "")),
            viewer.scope,
            viewer.role,
            viewer.reach,
            self._site.services.limits.undo_ms // SECOND_MS,
        )
        readiness = await review_problems.read_readiness_of_run(services, found)
        cards = await run_apart(review_card.cards, found, readiness, looking)
        look_again = find_next_look(request, cards) if tried is None else None
        values = {
            "person": viewer.session.person if viewer.session is not None else None,
            "only_looking": viewer.scope == LOOK,
            "waiting": waiting,
            "found": found,
            "prepared": when(found.run.created_ms, now_ms),
            "cards": cards,
            "headline": review_card.headline(cards, has_actions=bool(found.actions)),
            "others": await run_apart(review_card.others, found),
            "loose_pictures": list_unattached(found),
            "tried": tried,
            "goal": describe_run(found.run.inputs),
            "operator": services.effects.operators.get(found.run.operator, found.run.operator),
            "rest": review_card.list_rest(found, cards),
            "batch_nonce": self._batch_nonce(nonces, browser, viewer, now_ms),
            "done": confirm_ended_links(request, found)
            or say_done(request, cards, decided, nonce, self._site.services.limits.undo_ms, stopped)
            if tried is None
            else None,
            "looks_again": look_again is not None,
            "rule_links": list_rule_links(request, viewer, cards, services.effects.channels),
            "askable": list_askable(services.connectors, found),
            "in_place": viewer.session is not None and viewer.session.public_key is not None,
            "stop_nonce": nonces.issue(browser, f"{viewer.session.session_id} stop", now_ms)
            if viewer.session is not None
            else "",
            "end_links_nonce": nonces.issue(browser, f"end-links {found.run.run_id}", now_ms),
        }
        headers = {"Refresh": look_again} if look_again is not None else {}
        framed = any(card.content.html is not None for card in cards)
        if values["in_place"]:
            headers |= DECIDING_HEADERS if framed else SCRIPTED_HEADERS
        elif framed:
            headers |= FRAMING_HEADERS
        response = page(
            request, "review.html", values, status=tried.status if tried is not None else 200, headers=headers
        )
        nonces.remember(browser, response)
        self._site.cookies.keep_seen(
            response, {**seen, **{_short(each): each.revision for each in found.actions}}
        )
        return response

    def _batch_nonce(self, nonces: FormNonces, browser: Browser, viewer: Viewer, now_ms: int) -> str:
        """The nonce of the form that leads to deciding the rest together; only for signed-in people."""
        if viewer.session is None:
            return ""
        return nonces.issue(browser, f"{viewer.session.session_id} batch", now_ms)

    async def html(self, request: Request) -> Response:
        _, action = await self._find_action(request)
        html = action.effect.html
        return PageResponse(lambda: frame(html), headers=FRAMED_HEADERS)

    async def edit(self, request: Request, form: dict[str, str] | None = None) -> Response:
        """The edit page, with limits and differences. Changes nothing."""
        viewer, action = await self._find_action(request)
        services = self._site.services.for_workspace(action.workspace_id)
        has_form = action.view.fields and not explain_missing_type(services.effects, action)
        if not permits(viewer.scope, "edit") or not has_form:
            return see_other(f"/runs/{action.run_id}")
        now_ms = self._site.services.clock.now_ms()
        nonces = await self._site.nonces()
        browser = nonces.browser(request)
        about = subject(action.run_id, action.action_id, action.digest, "edit")
        place = await self._site.services.store.read(partial(tenancy.get_workspace, action.workspace_id))
        if viewer.session is not None:
            look = partial(find_empty_places, self._added, action.workspace_id)
            request.state.empty_places = await self._site.services.store.read(look)
        trial = EditTrial()
        if form is not None:
            trial = await try_edit(services, action, form)
        values = {
            "person": viewer.session.person if viewer.session is not None else None,
            "name": (form or {}).get("name") or self._site.cookies.name_given(request),
            "nonce": nonces.issue(browser, about, now_ms),
            "preview": await run_apart(build_preview, action, html=True),
            "workspace_name": place.name,
            **await run_apart(fill_edit_form, action, form, trial),
        }
        response = page(request, "review_edit.html", values, headers=SCRIPTED_HEADERS)
        nonces.remember(browser, response)
        return response

    async def _find_action(self, request: Request) -> tuple[Viewer, Action]:
        shown = await self._require_access(request, request.path_params["run_id"])
        viewer, action, _ = await self._look_up(request, shown)
        return viewer, action

    async def _look_up(self, request: Request, shown: PresentedAccess) -> tuple[Viewer, Action, Policy]:
        action_id, now_ms = request.path_params["action_id"], self._site.services.clock.now_ms()

        def look() -> Transaction[tuple[Viewer, Action, Policy]]:
            viewer = yield from admit(shown, now_ms)
            return viewer, *(yield from find_action(viewer, action_id))

        return await self._site.services.store.read(look)

    async def _require_access(self, request: Request, run_id: str) -> PresentedAccess:
        """Return the credentials of a form's sender. Refuses a sender without any."""
        shown = (await self._access()).shown(request, run_id, self._site.services.clock.now_ms())
        if shown.claims is None and shown.session_secret is None and not shown.bad_cookie:
            raise PageRefused(NO_LINK)
        await self._site.count(shown)
        return shown

    async def _check_nonce(self, request: Request, form: dict[str, str], about: str) -> int:
        return (await self._site.nonces()).check(
            request, form.get("nonce", ""), about, self._site.services.clock.now_ms()
        )

    async def _access(self) -> ReviewAccess:
        return ReviewAccess(await self._site.keys(), self._site.cookies)


def find_action(viewer: Viewer, action_id: str) -> Transaction[tuple[Action, Policy]]:
    """Return an action of the viewer's run: a link covers one run only (E71). Raises `PageRefused`."""
    run = viewer.run
    try:
        action, policy = yield from actions.find(run.workspace_id, require_action_id(action_id))
    except Refusal:
        raise PageRefused(NO_SUCH_ACTION) from None
    if action.run_id != run.run_id:
        raise PageRefused(NO_SUCH_ACTION)
    return action, policy


def list_counted(action: Action, policy: Policy) -> Transaction[tuple[GivenApproval, ...]]:
    """Return the approvals of an action that count so far."""
    needed = policy.require(action)
    found = yield from approvals.list_given(action)
    return tuple(each for each in found if approvals.counts(each, action, needed))


def _short(action: Action) -> str:
    """The end of the id, enough to tell one browser's actions apart."""
    return action.action_id[-12:]


def subject(run_id: str, action_id: str, digest: str, decision: str) -> str:
    """Return the nonce subject of a decision. It omits the person, who may sign in first."""
    return f"{decision} {run_id} {action_id} {digest}"


# The edit page: fields, their limits, and the changed words. Pure but for `try_edit`.

BODY: Final = "body"
ROWS: Final = {"recipients": 3, "cc": 3, BODY: 14}
OTHER_ROWS: Final = 6
HINTS: Final = dict.fromkeys(ADDRESSES, "One address on each line.")


class FormField(Record, kw_only=True):
    """A field of the form. `used` is None while its length is unknown."""

    field: Field
    text: str
    rows: int
    hint: str
    most: int | None
    used: int | None
    wrong: str


class EditTrial(Record):
    """The result of an edit that was not stored: its problems, those of each field, and its
    fields."""

    problems: tuple[str, ...] = ()
    wrong: dict[str, str] = {}
    fields: tuple[Field, ...] = ()


def fill_edit_form(action: Action, form: dict[str, str] | None, trial: EditTrial) -> dict[str, Any]:
    """The template values. `form` holds typed text to compare before saving."""
    before = read_texts(action)
    typed = {name: (form or {}).get(name, text) for name, text in before.items()}
    return {
        "action": action,
        "keeps_requests": action.keeps_requests,
        "title_of": action.view.heading,
        "fields": [
            _build_field(each, typed[each.name], before[each.name], trial) for each in list_fields(action)
        ],
        "asked": (form or {}).get("asked" if action.keeps_requests else "comment", ""),
        "differences": _differences(action, before, typed) if form is not None else (),
        "compared": form is not None,
        "problems": trial.problems,
        "address": f"/runs/{action.run_id}/actions/{action.action_id}/edit",
        "back": f"/runs/{action.run_id}#action-{action.action_id}",
    }


def _build_field(field: Field, text: str, before: str, trial: EditTrial) -> FormField:
    tried = next((each.used for each in trial.fields if each.name == field.name), None)
    return FormField(
        field=field,
        text=text,
        rows=ROWS.get(field.name, OTHER_ROWS),
        hint=HINTS.get(field.name, ""),
        most=MAX_CONTENT_CHARS if field.most is None and field.name == BODY else field.most,
        used=field.used if text == before else tried,
        wrong=trial.wrong.get(field.name, ""),
    )


def _differences(action: Action, before: dict[str, str], typed: dict[str, str]) -> tuple[LabelledDiff, ...]:
    steps = Steps(PAGE_STEPS)
    return tuple(
        LabelledDiff(field.label, word_diff(before[field.name], typed[field.name], steps))
        for field in action.view.fields
        if typed[field.name] != before[field.name].replace("\r\n", "\n")
    )


async def try_edit(services: Services, action: Action, form: dict[str, str]) -> EditTrial:
    """Return what saving would answer, by the same rules as saving."""
    try:
        effect = await content.edit_effect(services, action.effect, review_decisions.changes(action, form))
        view = await describe(services, action.workspace_id, effect)
    except BadFields as bad:
        return EditTrial(tuple(bad.wrong.values()))
    except Refusal as refusal:
        problems = refusal.recovery().problems
        if not isinstance(problems, list):
            return EditTrial((refusal.recovery().user_message,))
        located = locate_problems(problems, read_texts(action))
        wrong = {name: " ".join(each.expected for each in found) for name, found in located.items()}
        return EditTrial(tuple(f"{each.path}: {each.expected}" for each in problems), wrong)
    return EditTrial(fields=view.fields)


# The review page after a decision: the next item, the confirmation with its undo, and the automatic refresh.
# Read-only.

LOOK_AGAIN_SECONDS: Final = (1, 2, 3, 5, 8)
"""Delays of the automatic refreshes after sending."""

DONE: Final = {
    "approve": (
        frozenset({APPROVED, EXECUTING, EXECUTED}),
        "Approved. Your agent sends it, or you send it here.",
    ),
    "recorded": (frozenset({AWAITING}), "Your approval is recorded. Another person must approve it, too."),
    "send": (frozenset({APPROVED, EXECUTING}), "Approved, and on its way out."),
    "edit": (
        frozenset({AWAITING}),
        "Saved. Read it once more: the new version needs its own approval.",
    ),
    "again": (frozenset({AWAITING}), "This is a new copy of what failed. It needs its own approval."),
    "reject": (frozenset({REJECTED}), "Rejected. It will never be sent; your reason is kept."),
    "withdraw": (
        frozenset({AWAITING}),
        "The approval is withdrawn. Nothing goes out until it is approved again.",
    ),
    "ask": (
        frozenset({AWAITING}),
        "Your agent reads what you asked for. It comes back to you once it is changed.",
    ),
    "publish": (frozenset({EXECUTED}), "Thank you. Where it was published is on record."),
    "look_now": (
        frozenset({UNKNOWN, EXECUTED, RETRYABLE, FAILED}),
        "The provider is asked as soon as that is possible. Reload the page in a moment.",
    ),
    "resolve": (frozenset({UNKNOWN, EXECUTED, RETRYABLE}), "Thank you. Your answer is on record."),
}
"""Confirmation by decision, for these states of the action."""


DONE_STEPS: Final = {
    "approve": "Approved. Your agent goes on with the workflow.",
    "reject": "Rejected. The workflow does not go past this step with it; your reason is kept.",
}
"""The same confirmations for a step of a workflow."""

DONE_FUNCTIONS: Final = {
    "approve": "Approved. Your agent runs it, or you run it here.",
    "send": "Approved. It runs now.",
    "reject": "Rejected. It will never be run; your reason is kept.",
}
"""The same confirmations for an action that runs with arguments."""

LEADS_ON: Final = frozenset({"approve", "recorded", "send", "reject", "publish", "resolve"})
"""Decisions after which the next item opens."""


class ResultNotice(Record):
    """The confirmation of a decision. `about` names the action if the page now shows another one."""

    text: str
    action_id: str | None
    tone: str = "ok"
    undo: tuple[Action, str] | None = None
    """The action whose approval can be taken back, and the nonce of that form."""
    about: str = ""


def list_rule_links(
    request: Request, viewer: Viewer, cards: Iterable[Card], channels: Container[str]
) -> dict[str, str]:
    """Return the addresses of the sentence that always asks two people about what a card is about, by the ids of the
    actions: for an owner who looks at the workspace whose policy it is."""
    if viewer.session is None or not viewer.session.person.is_owner:
        return {}
    if request.cookies.get(PLACE_COOKIE, LOCAL_WORKSPACE) != viewer.run.workspace_id:
        return {}
    two = {"condition": "always", "count": "2", "who": "person"}
    return {
        card.action_id: with_query("/settings/policy", {"subject": f"channel {channel}", **two}) + "#add-rule"
        for card in cards
        if card.waiting and card.needed == 1 and (channel := card.action.effect.channel) in channels
    }


def list_askable(connectors: Mapping[str, Connector], found: RunReview) -> frozenset[str]:
    """Return the actions whose provider can be asked what became of them."""
    return frozenset(
        each.action_id for each in found.actions if can_be_asked(connectors.get(each.effect.connector))
    )


def find_next(viewer: Viewer, action: Action, did: str, now_ms: int) -> Transaction[Action | None]:
    """Return the item to open after a decision: another draft of the run, else the next one of the
    inbox. Who holds a link stays with its run."""
    if did not in LEADS_ON:
        return None
    found = yield from actions.run_actions(action.workspace_id, action.run_id)
    after = sorted(found, key=lambda each: (each.position <= action.position, each.position))
    for each in after:
        if each.action_id == action.action_id or state_of(each) != AWAITING or each.is_expired(now_ms):
            continue
        given = yield from approvals.list_given(each)
        if not any(yes.approver == viewer.approver and yes.revision == each.revision for yes in given):
            return each
    if viewer.session is None:
        return None
    return (yield from inbox.find_next(viewer.session.person, now_ms))


def lead_on(action: Action, did: str, then: Action | None) -> str:
    """The address after a decision."""
    said = {"did": did, "action": action.action_id}
    if then is None:
        said |= {"look": "1"} if did == "send" else {}
        return f"/runs/{action.run_id}?{urlencode(said)}#action-{action.action_id}"
    return f"/runs/{then.run_id}?{urlencode(said | {'next': then.action_id})}#action-{then.action_id}"


def find_decided(request: Request, viewer: Viewer, found: RunReview) -> Transaction[Action | None]:
    """Return the action of the last decision, which a signed-in person may have made in another run."""
    action_id = request.query_params.get("action", "")
    mine = next((each for each in found.actions if each.action_id == action_id), None)
    if mine is not None or viewer.session is None or not is_uuid(action_id):
        return mine
    seen = yield from inbox.find(viewer.session.person, action_id)
    return seen[0] if seen is not None else None


def confirm_ended_links(request: Request, found: RunReview) -> ResultNotice | None:
    if request.query_params.get("did") != "end-links" or not found.run.links_from_ms:
        return None
    return ResultNotice("The review links of this run have ended. A new one works again.", None)


def say_done(
    request: Request,
    shown: tuple[Card, ...],
    action: Action | None,
    nonce: Callable[[Action, str], str],
    undo_ms: int,
    stopped: str,
) -> ResultNotice | None:
    """Confirm the last decision. `stopped` says why nothing is sent now, where that is so."""
    did = request.query_params.get("did", "")
    states, text = DONE.get(did, (frozenset(), ""))
    if action is None or state_of(action) not in states:
        return None
    runs = is_function(action)
    if runs:
        text = DONE_FUNCTIONS.get(did, text)
    if action.is_step:
        text = DONE_STEPS.get(did, text)
    moved = bool(request.query_params.get("next"))
    card = next((each for each in shown if each.action_id == action.action_id), None)
    waits = card is None or card.in_flight
    if state_of(action) == APPROVED and did in ("approve", "send") and stopped:
        done = "run" if runs else "sent"
        text = f"Approved. It cannot be {done} yet: {stopped}"
    elif state_of(action) == APPROVED and did == "send" and waits and undo_ms:
        text = f"Approved. It {'runs' if runs else 'goes out'} in {undo_ms // SECOND_MS} seconds."
    elif state_of(action) == APPROVED and did in ("approve", "send") and card is not None and not waits:
        notice = _not_under_way(card, did, text)
        text = notice.text
        if notice.tone == "warn" and not moved:
            return notice
    undo = None
    if did in ("approve", "send") and state_of(action) == APPROVED:
        undo = action, nonce(action, "withdraw")
    about = say_effect(action) if moved else ""
    return ResultNotice(text, None if moved else action.action_id, undo=undo, about=about)


def _not_under_way(card: Card, did: str, text: str) -> ResultNotice:
    """Confirmation of an approval whose sending is not under way."""
    if card.sends and not card.readiness.ready:
        why = card.readiness.fix_hint or f"{card.action.view.via} is not ready."
        done = "run" if card.is_function else "sent"
        return ResultNotice(f"Approved. It cannot be {done} yet: {why}", card.action_id, "warn")
    if did == "send":
        done = "run" if card.is_function else "sent"
        return ResultNotice(f"Approved, and not {done} yet.", card.action_id, "warn")
    return ResultNotice(text, card.action_id)


def find_next_look(request: Request, shown: tuple[Card, ...]) -> str | None:
    """The next refresh. None while the page has a form that a person may be filling in."""
    times = whole_number(request.query_params.get("look", ""), 1) or 0
    if not 1 <= times <= len(LOOK_AGAIN_SECONDS) or not any(card.in_flight for card in shown):
        return None
    if any(card.forms and not card.in_flight for card in shown):
        return None
    place = next(card.action_id for card in shown if card.in_flight)
    return f"{LOOK_AGAIN_SECONDS[times - 1]}; url={request.url.path}?look={times + 1}#action-{place}"
