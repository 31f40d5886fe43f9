"""The primary tools of the operators that write: launch, post, send (E9, E11, E59, E95, E101).

They have no outside effect: they may read a product page, write text and stage actions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from assent.platform import STATE_MACHINE, Problem, note_event
from assent.sdk import (
    HOUR_MS,
    THIS_RUN,
    WRITES,
    Action,
    Call,
    PictureView,
    PlannedTime,
    Preparation,
    PreparedRun,
    Reason,
    Refusal,
    Run,
    StagedEffect,
    SuggestedCall,
    Tool,
    WireRecord,
    Words,
    bad_argument,
    iso_time,
    prepare_run,
    read_run,
    require_addresses,
    require_line,
    require_run_id,
    run_apart,
)
from assent_launch import operators
from assent_launch.channels.channel import Channel, needs
from assent_launch.channels.registry import SIZES, TABLE, label_of
from assent_launch.content.evidence import SOURCES, find_name, gather, is_enough
from assent_launch.content.note import announces, asks_otherwise
from assent_launch.content.orders import speaks_to_a_model
from assent_launch.content.page import Fetched, Page, read_page, read_text
from assent_launch.content.writing import gather_writing
from assent_launch.knowledge import add_goal, evidence_given, load_lessons
from assent_launch.learning import memory
from assent_launch.learning.measurement import Measurable
from assent_launch.operators import (
    EMAIL,
    ChannelNote,
    LaunchPlan,
    SuppliedText,
    Workbench,
    describe_wanted,
    require_channel,
)
from assent_launch.process import find_suite
from assent_launch.tools.graphics import add_one_picture, illustrate
from assent_launch.tools.requests import (
    Brand,
    DraftGiven,
    Envelope,
    LaunchProduct,
    Post,
    Send,
    is_mailbox,
    make_request,
)

if TYPE_CHECKING:
    from assent.sdk import FetchedPage

SCOPE: Final = "runs:write"


class MeasurementPlan(WireRecord, kw_only=True):
    """How a launch is measured (S0 §9): when, and which channels the person reports."""

    after_hours: float
    read: tuple[str, ...]
    told_by_hand: tuple[str, ...]


class LaunchPack(WireRecord, kw_only=True):
    positioning: str
    drafts_needed: tuple[ChannelNote, ...]
    measurement: MeasurementPlan | None = None


class ActionRef(WireRecord):
    """Reference to a staged action in the same answer."""

    id: str


class AgentUsefulness(WireRecord):
    """The work that this call did for the agent."""

    prepared_assets: int
    staged_actions: int
    needs_human: bool


class LaunchReply(PreparedRun, kw_only=True):
    """Also what S4 asks of a launch: how its actions may go on, and what the call did for the agent."""

    launch_pack: LaunchPack
    publish_actions: tuple[ActionRef, ...]
    images: tuple[PictureView, ...]
    approval_state_machine: dict[str, Any]
    agent_usefulness: AgentUsefulness


class PostReply(PreparedRun, kw_only=True):
    publish_action: ActionRef | None


class SendReply(PreparedRun, kw_only=True):
    send_action: ActionRef | None


async def launch_product(call: Call, request: LaunchProduct) -> LaunchReply:
    call.require_webhook(request.webhook_url)
    asked = make_request(call, request, operators.LAUNCH.id, "chieflab_launch_product")
    made = await call.await_within_limit(request.webhook_url, _launch(call, request))
    if made is None:
        nothing_yet: dict[str, Any] = {
            "launch_pack": LaunchPack(positioning="", drafts_needed=()),
            "publish_actions": (),
            "images": (),
            "approval_state_machine": STATE_MACHINE,
            "agent_usefulness": AgentUsefulness(0, 0, False),
        }
        return await call.defer(asked, LaunchReply, nothing_yet)
    plan, preparation = made

    def more(assets: tuple[Any, ...], staged: tuple[Any, ...]) -> dict[str, Any]:
        return {
            "launch_pack": LaunchPack(
                positioning=plan.positioning,
                drafts_needed=plan.missing,
                measurement=_plan_measurement(call, staged),
            ),
            "publish_actions": tuple(ActionRef(action.action_id) for action in staged),
            "images": PictureView.list_in(assets),
            "approval_state_machine": STATE_MACHINE,
            "agent_usefulness": AgentUsefulness(len(assets), len(staged), bool(staged)),
        }

    return await prepare_run(
        call.services,
        asked,
        preparation,
        LaunchReply,
        more,
    )


async def _launch(call: Call, request: LaunchProduct) -> tuple[LaunchPlan, Preparation]:
    """Prepare a launch. All slow work is here: pages, models, pictures."""
    mail, given = request.email or Envelope(), request.drafts or {}
    bench = await gather_bench(call, request, brand=request.brand, mail=_address("email.", mail))
    subject = require_line("email.subject", mail.subject or "")
    drafts = {require_channel(name, f"drafts.{name}").id: _draft(name, text) for name, text in given.items()}
    if subject and "email" in drafts and not drafts["email"].subject:
        drafts["email"] = msgspec.structs.replace(drafts["email"], subject=subject)
    named = request.channels or (() if drafts else operators.DEFAULT_CHANNELS)
    wanted = tuple(require_channel(name, f"channels.{place}").id for place, name in enumerate(named))
    writes = may_write(bench, request.goal)
    if not writes and not drafts:
        raise write_launch(bench, wanted, request)
    if not is_enough(bench.evidence) and not drafts:
        raise refuse_too_little(bench, "drafts")
    if writes:
        bench = await _write(call, bench, [name for name in wanted if name not in drafts], request.goal)
    plan = await run_apart(operators.prepare_launch, bench, wanted, drafts, request.goal or "")
    if not plan.written:
        raise refuse_too_little(bench, "drafts")
    following = tuple(write_missing(note) for note in plan.missing)
    unasked = request.images_needed is None and not writes
    draws = (
        request.images_needed is not False and not unasked and any(each in SIZES for each in plan.channels)
    )
    following = following if draws else (*following, PICTURES)
    preparation = _add_next_calls(bench, plan.preparation, following)
    notes = (*tell_missing(plan), *_tell_measurement(_plan_measurement(call, preparation.effects)))
    preparation = msgspec.structs.replace(preparation, notes=notes)
    missing = tuple(note.channel for note in plan.missing)
    preparation = offer_writing(bench, preparation, request.goal, missing)
    if subject and "email" not in drafts:
        preparation = _with_subject(preparation, subject)
    if not draws:
        return plan, preparation
    colors = (request.brand.colors if request.brand is not None else None) or []
    draw = illustrate if request.images_needed else add_one_picture
    name = find_name(bench.evidence)
    return plan, await draw(call, preparation, operators.headlines(plan), name, colors)


def _draft(name: str, given: str | DraftGiven) -> SuppliedText:
    if isinstance(given, str):
        path = f"drafts.{name}"
        return SuppliedText(body=given, paths={"body": path, "title": path, "subject": "email.subject"})
    at = {field: f"drafts.{name}.{field}" for field in ("body", "title", "subject")}
    return SuppliedText(body=given.body, title=given.title or "", subject=given.subject or "", paths=at)


def _plan_measurement(call: Call, staged: tuple[Action, ...] | tuple[StagedEffect, ...]) -> MeasurementPlan:
    connectors = call.services.connectors
    by_channel = {action.effect.channel: connectors.get(action.effect.connector) for action in staged}
    read = tuple(name for name, connector in by_channel.items() if isinstance(connector, Measurable))
    return MeasurementPlan(
        after_hours=round(call.services.limits.measure_after_ms / HOUR_MS, 2),
        read=read,
        told_by_hand=tuple(name for name in by_channel if name not in read),
    )


def _tell_measurement(plan: MeasurementPlan) -> tuple[str, ...]:
    """Tell the person when there are results; nothing if nothing will be sent."""
    known, hours = plan.read or plan.told_by_hand, max(1, round(plan.after_hours))
    return (f"Results come {hours} hour{'' if hours == 1 else 's'} after it goes out.",) if known else ()


async def prepare_post(call: Call, request: Post) -> PostReply:
    channel = require_channel(request.channel)
    joined = await find_joined(call, request.run_id)
    bench = await gather_bench(call, request, brand=request.brand, joined=joined, channels=(channel,))
    supplied = (
        SuppliedText(body=request.body, title=request.title or "") if request.body is not None else None
    )
    made = await _prepare_one(call, request, bench, channel, supplied, "chieflab_post")
    if not channel.action:
        said = NOT_OURS_TO_CHANGE.format(label=channel.label)
        made = msgspec.structs.replace(made, user_message=said)
    asked = make_request(call, request, operators.POST.id, "chieflab_post")
    if joined is not None:
        asked = msgspec.structs.replace(
            asked, parent_run_id=joined.run_id, tenant_id=asked.tenant_id or joined.tenant_id
        )
    return await prepare_run(
        call.services,
        asked,
        offer_writing(bench, _add_next_calls(bench, made, ()), request.goal),
        PostReply,
        lambda assets, staged: {"publish_action": ActionRef(staged[0].action_id) if staged else None},
    )


NOT_OURS_TO_CHANGE = (
    "{label}: here is the text. Nothing was published, changed or staged: this server does not reach that page. Put "
    "the text there yourself."
)


async def prepare_send(call: Call, request: Send) -> SendReply:
    if not request.to:
        raise bad_argument("to", "at least one e-mail address", "none")
    channel = require_channel("email")
    bench = await gather_bench(call, request, mail=_address("", request), channels=(channel,))
    supplied = (
        SuppliedText(body=request.body, subject=request.subject or "") if request.body is not None else None
    )
    made = await _prepare_one(call, request, bench, channel, supplied, "chieflab_send")
    if supplied is None and request.subject:
        made = _with_subject(made, require_line("subject", request.subject))
    return await prepare_run(
        call.services,
        make_request(call, request, EMAIL.id, "chieflab_send"),
        offer_writing(bench, _add_next_calls(bench, made, NEXT_SEND), request.goal),
        SendReply,
        lambda assets, staged: {"send_action": ActionRef(staged[0].action_id) if staged else None},
    )


def _address(path: str, given: Envelope) -> dict[str, Any]:
    """Return whom a mail goes to, and from whom, as fields of its effect. Refuses invalid addresses."""
    alone = {"sender": ("from", given.sender), "reply_to": ("replyTo", given.reply_to)}
    for name, mailbox in alone.values():
        if mailbox is not None and not is_mailbox(mailbox):
            raise bad_argument(path + name, "an e-mail address such as ada@example.org", repr(mailbox[:80]))
    to = require_addresses(f"{path}to", [given.to] if isinstance(given.to, str) else given.to)
    return {
        "recipients": to,
        "cc": tuple(each for each in require_addresses(f"{path}cc", given.cc) if each not in to),
        "visible": given.visible,
        **{field: mailbox for field, (_, mailbox) in alone.items() if mailbox is not None},
    }


async def _prepare_one(
    call: Call,
    request: Post | Send,
    bench: Workbench,
    channel: Channel,
    supplied: SuppliedText | None,
    tool: str,
) -> Preparation:
    """Prepare one text for one channel. Refuses if it is not supplied and nothing can write it."""
    if supplied is None:
        refuse_unwritable(bench, channel, tool, request)
        bench = await _write(call, bench, [channel.id], request.goal)
    made = await run_apart(operators.prepare_post, bench, channel, supplied)
    if made is None:
        raise request_text(bench, channel, tool, request)
    return made


async def _write(call: Call, bench: Workbench, names: list[str], goal: str | None) -> Workbench:
    """Have the missing texts of these channels written."""
    write = find_suite(call.services).drafting.write
    known = [require_channel(name) for name in names]
    made = await asyncio.gather(*(write(bench.facts, each, goal or "") for each in known))
    texts = {each.id: text for each, text in zip(known, made, strict=True) if text is not None}
    return msgspec.structs.replace(bench, written=texts)


def _with_subject(made: Preparation, subject: str) -> Preparation:
    effects = tuple(
        msgspec.structs.replace(each, effect=msgspec.structs.replace(each.effect, subject=subject))
        if each.effect.channel == "email"
        else each
        for each in made.effects
    )
    drafts = tuple(
        msgspec.structs.replace(each, title=subject) if each.channel == "email" else each
        for each in made.drafts
    )
    return msgspec.structs.replace(made, drafts=drafts, effects=effects)


def _add_next_calls(
    bench: Workbench, preparation: Preparation, following: tuple[SuggestedCall, ...]
) -> Preparation:
    return msgspec.structs.replace(preparation, fetched=bench.fetched, next_calls=following)


PICTURES = SuggestedCall(
    "chieflab_create_social_graphics", {}, "the user wants pictures", {"headline": "the words on them"}
)
NEXT_SEND = (
    SuggestedCall(
        "chieflab_save_contacts",
        {},
        "the user wants to keep a contact",
        {"contacts": "a list of objects with email, and firstName and lastName where known"},
    ),
)

TOOLS = (
    Tool(
        name="chieflab_launch_product",
        title="Launch a product",
        description="Prepares a whole launch: positioning, a draft per channel, landing copy, e-mail, a picture and "
        "how it is measured, each text staged for approval; nothing is sent yet. USE WHEN the user has built, shipped "
        "or deployed something or went live, and wants to launch it, announce a new version everywhere, be heard of, "
        "find users or first customers, or asks what now. Write the texts yourself, in drafts; a channel without one "
        "gets a plain note from repoContext or productUrl.",
        behaviour=WRITES,
        request=LaunchProduct,
        reply=LaunchReply,
        handler=launch_product,
        scope=SCOPE,
        legacy_names=("chiefmo_launch_product",),
    ),
    Tool(
        name="chieflab_post",
        title="Prepare a post",
        description="Prepares one post on one channel (LinkedIn, X or Twitter, Bluesky, Hacker News, Slack, a blog or "
        "site, …) and stages it for approval; nothing goes out. USE WHEN the user wants to share or tell something in "
        "a single post, tweet or note. Write it yourself, in body; without one it is a plain note from repoContext or "
        "productUrl.",
        behaviour=WRITES,
        request=Post,
        reply=PostReply,
        handler=prepare_post,
        scope=SCOPE,
    ),
    Tool(
        name="chieflab_send",
        title="Prepare an e-mail",
        description="Prepares one e-mail and stages it for approval; nothing is sent by this call. USE WHEN the user "
        "wants to mail, write to, reply to or invite someone, or send notes or a newsletter: a colleague, customers, "
        "investors, everyone on a list. Write it yourself, in body, with its subject.",
        behaviour=WRITES,
        request=Send,
        reply=SendReply,
        handler=prepare_send,
        scope=SCOPE,
    ),
)


# Asks the agent to write a text that is missing or only a plain note, with the known facts and the channel's limits.
#
# The agent is the writer. The server can only stand in with a plain note about the product.

MOST_SOURCES: Final = 4
ECHO_BYTES: Final = 1_000
"""The longest argument that is repeated in the suggested call."""

ONLY_NOTES: Final = (
    "The server writes plain notes about a product only. I will write this one and show it to you."
)
WRITE_IT: Final = (
    "Write the text yourself and call the same tool again with it in {argument}; writing has the known facts, "
    "recoveryTool the rest of the call."
)
OR_WRITE: Final = " Or write the texts yourself and pass them as {argument}: they need no such facts."


def refuse_unwritable(bench: Workbench, channel: Channel, tool: str, request: Any) -> None:
    """Without a supplied text, refuse goals and evidence that no plain note can serve."""
    goal = request.goal or ""
    if goal and not announces(goal, find_name(bench.evidence)):
        raise request_text(bench, channel, tool, request)
    if not is_enough(bench.evidence):
        raise (
            request_text(bench, channel, tool, request)
            if channel.shape == "email"
            else refuse_too_little(bench)
        )


def may_write(bench: Workbench, goal: str | None) -> bool:
    """Whether notes about the product may replace the missing texts of a launch.

    A launch is an announcement unless its goal says otherwise; a single post or e-mail may be
    anything.
    """
    return not asks_otherwise(goal or "", find_name(bench.evidence))


def request_text(bench: Workbench, channel: Channel, tool: str, request: Any) -> Refusal:
    """Return the refusal that asks the agent to write this text."""
    return _ask_for_text(bench, (channel.id,), tool, request, "body", describe_wanted(channel))


def write_launch(bench: Workbench, channel_ids: tuple[str, ...], request: Any) -> Refusal:
    """Return the refusal that asks the agent for the texts of a launch."""
    wanted = " ".join(needs(require_channel(each)) for each in channel_ids)
    texts = {"drafts": f"an object with your own text per channel. {wanted}"}
    return _ask_for_text(bench, channel_ids, "chieflab_launch_product", request, "drafts", texts)


def _ask_for_text(
    bench: Workbench,
    channel_ids: tuple[str, ...],
    tool: str,
    request: Any,
    argument: str,
    wanted: dict[str, str],
) -> Refusal:
    given = _drop_unset(msgspec.to_builtins(request))
    short = {name: value for name, value in given.items() if len(msgspec.json.encode(value)) <= ECHO_BYTES}
    needs = {name: what for name, what in wanted.items() if name not in short}
    return Refusal(
        Reason.VALIDATION_ERROR,
        words=Words("There is no text yet.", ONLY_NOTES, WRITE_IT.format(argument=argument)),
        problems=[Problem(argument, needs[argument], "no text")],
        recovery_tool=tool,
        recovery_args=short,
        recovery_needs=needs,
        writing=_gather_known(bench, channel_ids, request.goal),
    )


def _drop_unset(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _drop_unset(each) for name, each in value.items() if each not in (None, False, [])}


def refuse_too_little(bench: Workbench, argument: str = "body") -> Refusal:
    """Return the refusal that names the missing facts, and says why the given page does not
    help."""
    fix = Reason.MISSING_REPO_CONTEXT.fix + OR_WRITE.format(argument=argument)
    if not bench.warnings:
        return Refusal(Reason.MISSING_REPO_CONTEXT, fix=fix)
    why = " ".join(bench.warnings)
    wanted = "I need to know what you built; without that the first drafts would be generic."
    return Refusal(Reason.MISSING_REPO_CONTEXT, user_message=f"{why} {wanted}", fix=fix)


def offer_writing(
    bench: Workbench, made: Preparation, goal: str | None, missing: tuple[str, ...] = ()
) -> Preparation:
    """Add help for writing to a preparation with a plain note or a missing text, and the user's rules to any."""
    noted = tuple(each.effect.channel for each in made.effects if each.rewrite)
    if not noted and not missing:
        rules = bench.lessons.stated
        return msgspec.structs.replace(made, writing={"rules": rules}) if rules else made
    return msgspec.structs.replace(
        made,
        notes=(*made.notes, *_tell_notes(made, noted, goal)),
        writing=_gather_known(bench, (*noted, *missing), goal),
    )


def _tell_notes(made: Preparation, noted: tuple[str, ...], goal: str | None) -> tuple[str, ...]:
    """Say which texts are plain notes, where their facts come from, and that the agent writes better."""
    if not noted:
        return ()
    supports = (
        support["source"]
        for draft in made.drafts
        if draft.channel in noted
        for claim in draft.metadata["claims"]
        for support in claim["evidence"]
    )
    sources = ", ".join(SOURCES[each] for each in tuple(dict.fromkeys(supports))[:MOST_SOURCES])
    what = "a plain note" if len(noted) == 1 else "plain notes"
    kept = "Your goal decided only which facts come first. " if goal else ""
    labels = ", ".join(dict.fromkeys(map(label_of, noted)))
    return (f"{labels}: {what} from {sources or 'the facts'}. {kept}I can write better.",)


def _gather_known(bench: Workbench, channel_ids: tuple[str, ...], goal: str | None) -> dict[str, Any]:
    found = gather_writing(channel_ids, bench.evidence, bench.lessons, goal=goal or "")
    known: dict[str, Any] = msgspec.to_builtins(found)
    return known


def write_missing(note: ChannelNote) -> SuggestedCall:
    args = {"channel": note.channel, "runId": THIS_RUN}
    return SuggestedCall(
        "chieflab_post", args, "you have written the text", describe_wanted(require_channel(note.channel))
    )


def tell_missing(plan: LaunchPlan) -> tuple[str, ...]:
    labels = [label_of(note.channel) for note in plan.missing]
    if not labels:
        return ()
    verb = "needs" if len(labels) == 1 else "need"
    return (
        f"{len(plan.written)} of {len(plan.written) + len(labels)} drafts are there: {', '.join(labels)} still {verb} "
        "a text. I can write it.",
    )


# Gathers the input of the operators that write: product page, repository facts, memory, ready connectors.
#
# Reads only, except for a record of the page that was requested.


async def find_joined(call: Call, run_id: str | None) -> Run | None:
    """Return the run that a call joins. Refuses an id that this workspace does not have."""
    if run_id is None:
        return None
    wanted = require_run_id(run_id)
    return await call.services.store.read(lambda: read_run(call.caller.workspace_id, wanted))


async def gather_bench(
    call: Call,
    request: Any,
    *,
    brand: Brand | None = None,
    mail: dict[str, Any] | None = None,
    joined: Run | None = None,
    channels: Iterable[Channel] = TABLE,
) -> Workbench:
    """Gather the operator's input: product page, repository facts, memory, the input of the run that this
    one joins, and which connectors of these channels are ready."""
    tenant = request.tenant_id or (joined.tenant_id if joined is not None else None)
    due = PlannedTime.read("scheduleFor", getattr(request, "schedule_for", None)) or PlannedTime(None)
    page, warnings, fetched = await _page(call, request.product_url)
    tenant_id = memory.tenant_of(tenant)
    entries, lessons, kinds = await call.services.store.read(
        lambda: load_lessons(call.caller.workspace_id, tenant_id)
    )
    given = evidence_given(joined) if joined is not None else {}
    context = {**given.get("repo_context", {})}
    context |= request.repo_context.given() if request.repo_context is not None else {}
    if request.goal:
        if joined is not None:
            context.pop("launchGoal", None)
        context = add_goal(context, request.goal)
    return Workbench(
        evidence=await run_apart(
            gather,
            product_url=request.product_url or given.get("product_url", ""),
            page=page,
            repo_context=context,
            brand=msgspec.to_builtins(brand) if brand is not None else given.get("brand", {}),
            entries=entries,
        ),
        lessons=lessons,
        connectors=frozenset(call.services.connectors),
        ready=await _find_ready(call, channels),
        kinds=kinds,
        now_ms=call.now_ms,
        warnings=warnings,
        fetched=fetched,
        due=due,
        mail=mail or {},
    )


async def _find_ready(call: Call, channels: Iterable[Channel]) -> frozenset[str]:
    known = call.services.connectors
    names = [name for name in dict.fromkeys(n for row in channels for n in row.connectors) if name in known]
    found = await asyncio.gather(*(known[name].readiness(call.caller.workspace_id) for name in names))
    return frozenset(name for name, readiness in zip(names, found, strict=True) if readiness.ready)


async def _page(call: Call, url: str | None) -> tuple[Page | None, tuple[str, ...], dict[str, Any] | None]:
    """Return the product page, or a warning why it could not be read, and the request, which is
    recorded in any case."""
    if url is None:
        return None, (), None
    if not _is_web_address(url):
        raise bad_argument("productUrl", "a web address such as https://example.org", repr(url[:80]))
    now_ms = call.services.clock.now_ms()
    found = await read_product_page(call.services.outgoing.fetch_page, url)
    fetched: dict[str, Any] = {"url": url, "fetchedAt": iso_time(now_ms), "status": found.status}
    if found.found_at not in ("", url):
        fetched["foundAt"] = found.found_at
    if found.problem:
        fetched["problem"] = found.problem
    workspace_id = call.caller.workspace_id
    facts = {**fetched, "by": call.caller.name}
    note = partial(note_event, workspace_id, "page_fetched", facts, now_ms)
    await call.services.store.write(note)
    if found.page is None:
        return None, (f"The product page could not be read: {found.problem}",), fetched
    return found.page, _warn_about_page(found.page), fetched


def _warn_about_page(page: Page) -> tuple[str, ...]:
    """Warn the reviewer of a product page without words, with text for AI systems, or cut short."""
    texts = (page.title, page.description, page.og_title, page.og_description, page.site_name, page.headline)
    said = [text for text in (*texts, *page.headings, *page.paragraphs) if text]
    found = {
        "The product page was read and says nothing in words.": not said,
        "The product page speaks to AI systems; that text was left out. Check the page.": any(
            speaks_to_a_model(text) for text in said
        ),
        "The product page is very large; only its beginning was read.": page.truncated,
    }
    return tuple(warning for warning, holds in found.items() if holds)


def _is_web_address(url: str) -> bool:
    """Whether a URL may be the link of a post: http or https, no password, no blanks."""
    try:
        parts = urlsplit(url)
        bare = bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bare and url.isprintable() and " " not in url


# Reads the page of a product as data for drafts.


async def read_product_page(fetch: Callable[[str], Awaitable[FetchedPage]], url: str) -> Fetched:
    """Return the page, or the reason why it could not be read. `fetch` applies the SSRF rules."""
    from assent.sdk import FetchRefused

    try:
        fetched = await fetch(url)
    except FetchRefused as refused:
        return Fetched(problem=str(refused), status=refused.status)
    page = read_text(fetched.text) if fetched.content_type == "text/plain" else read_page(fetched.text)
    return Fetched(page=page, status=200, found_at=fetched.url)
