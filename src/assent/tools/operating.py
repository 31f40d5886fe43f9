"""The primary tools of the operators that write: launch, post, send (E9, E11, E59, E95, E101).

Nothing here has an outside effect: a product page may be read, text is written, actions are staged.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

import msgspec

from assent.drafting import channels
from assent.drafting import evidence as gathering
from assent.drafting.cleaning import speaks_to_a_model
from assent.drafting.naming import name_of
from assent.drafting.page import Page
from assent.drafting.records import Composed, NeedsDraft
from assent.engine import brain, journal, lessons_read, long_runs, staging
from assent.engine.staging import PreparedRun, Request
from assent.engine.webhooks import shown_url
from assent.kernel.ids import TenantId
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.kernel.times import iso_time
from assent.lifecycle.guidance import ActionRef, AssetView, SuggestedCall, action_ref
from assent.offloading import SHORT_CHARS, run_apart, run_long_apart
from assent.operators import email, launch, post
from assent.operators.definition import Workbench
from assent.operators.drafts import Supplied, known_channel
from assent.operators.launch import ChannelNote, LaunchPlan
from assent.ports import Preparation
from assent.tools.arguments import addresses, is_mailbox, line, moment
from assent.tools.definition import WRITES, Call, Tool
from assent.tools.graphics import illustrated
from assent.tools.long_runs import patiently
from assent.tools.operator_requests import Brand, LaunchProduct, MailOptions, Post, Send

SCOPE = "runs:write"


class ChannelAsset(msgspec.Struct, frozen=True, rename="camel"):
    channel: str
    asset_id: str
    title: str


class LaunchPack(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    positioning: str
    launch_angle: str
    channels: tuple[ChannelAsset, ...]
    drafts_needed: tuple[ChannelNote, ...]


class LaunchReply(PreparedRun, frozen=True, kw_only=True, rename="camel"):
    launch_pack: LaunchPack
    publish_actions: tuple[ActionRef, ...]
    images: tuple[AssetView, ...]


class PostReply(PreparedRun, frozen=True, kw_only=True, rename="camel"):
    publish_action: ActionRef | None


class SendReply(PreparedRun, frozen=True, kw_only=True, rename="camel"):
    send_action: ActionRef | None


async def launch_product(call: Call, request: LaunchProduct) -> LaunchReply:
    refuse_webhook(call, request.webhook_url)
    asked = _request(call, request, launch.INFO.id, "chieflab_launch_product")
    made = await patiently(call, request.webhook_url, _launch(call, request))
    if made is None:
        nothing_yet = {
            "launch_pack": LaunchPack(positioning="", launch_angle="", channels=(), drafts_needed=())
        }
        return await long_runs.begin(
            call.services, asked, LaunchReply, {**nothing_yet, "publish_actions": (), "images": ()}
        )
    plan, preparation = made

    def more(assets: tuple[Any, ...], staged: tuple[Any, ...]) -> dict[str, Any]:
        return {
            "launch_pack": LaunchPack(
                positioning=plan.positioning,
                launch_angle=plan.angle,
                channels=tuple(
                    ChannelAsset(each.channel.id, asset.asset_id, asset.title)
                    for each, asset in zip(plan.written, assets, strict=False)
                ),
                drafts_needed=plan.missing,
            ),
            "publish_actions": tuple(action_ref(action) for action in staged),
            "images": staging.images(call.services, assets),
        }

    return await staging.stage(
        call.services,
        asked,
        preparation,
        LaunchReply,
        more,
    )


async def _launch(call: Call, request: LaunchProduct) -> tuple[LaunchPlan, Preparation]:
    """What is to be launched and how: all that may take its time, a page to read, a model to ask, pictures to draw."""
    mail = request.email or MailOptions()
    bench = await _bench(
        call, request, brand=request.brand, sender=mail.sender, recipients=addresses("email.to", mail.to)
    )
    subject = line("email.subject", mail.subject or "")
    drafts = {
        known_channel(name, f"drafts.{name}").id: Supplied(body=text)
        for name, text in (request.drafts or {}).items()
    }
    if subject and "email" in drafts:
        drafts["email"] = Supplied(body=drafts["email"].body, subject=subject)
    if not gathering.enough(bench.evidence) and not drafts:
        raise _too_little(bench)
    wanted = tuple(request.channels or (() if drafts else launch.DEFAULT_CHANNELS))
    bench = await _drafted(call, bench, [name for name in wanted if name not in drafts])
    plan = await run_apart(launch.prepare, bench, wanted, drafts)
    preparation = _guided(bench, plan.preparation, NEXT_LAUNCH)
    if subject and "email" not in drafts:
        preparation = _with_subject(preparation, subject)
    if request.images_needed:
        colors = request.brand.colors if request.brand is not None else None
        preparation = await illustrated(
            call, preparation, launch.headlines(plan), name_of(bench.evidence)[0], colors or []
        )
    return plan, preparation


async def prepare_post(call: Call, request: Post) -> PostReply:
    channel = known_channel(request.channel)
    bench = await _bench(call, request, brand=request.brand)
    supplied = Supplied(body=request.body, title=request.title or "") if request.body is not None else None
    if supplied is None and not gathering.enough(bench.evidence):
        raise _too_little(bench)
    if supplied is None:
        bench = await _drafted(call, bench, [channel.id])
    made = await run_long_apart(_chars(request, bench, supplied), post.prepare, bench, channel, supplied)
    if isinstance(made, NeedsDraft):
        raise bad_argument("body", made.reason, "no text")
    return await staging.stage(
        call.services,
        _request(call, request, post.INFO.id, "chieflab_post"),
        _guided(bench, made, NEXT_POST),
        PostReply,
        lambda assets, staged: {"publish_action": action_ref(staged[0]) if staged else None},
    )


async def prepare_send(call: Call, request: Send) -> SendReply:
    given = [request.to] if isinstance(request.to, str) else request.to
    if not given:
        raise bad_argument("to", "at least one e-mail address", "none")
    bench = await _bench(call, request, sender=request.sender, recipients=addresses("to", given))
    supplied = (
        Supplied(body=request.body, subject=request.subject or "") if request.body is not None else None
    )
    if supplied is None and not gathering.enough(bench.evidence):
        raise _too_little(bench)
    if supplied is None:
        bench = await _drafted(call, bench, ["email"])
    made = await run_long_apart(_chars(request, bench, supplied), email.prepare, bench, supplied)
    if isinstance(made, NeedsDraft):
        raise bad_argument("body", made.reason, "no text")
    if supplied is None and request.subject:
        made = _with_subject(made, line("subject", request.subject))
    return await staging.stage(
        call.services,
        _request(call, request, email.INFO.id, "chieflab_send"),
        _guided(bench, made, NEXT_SEND),
        SendReply,
        lambda assets, staged: {"send_action": action_ref(staged[0]) if staged else None},
    )


async def _drafted(call: Call, bench: Workbench, names: list[str]) -> Workbench:
    """What a configured model writes for these channels. Without one the composer writes, and nothing is asked here."""
    write = call.services.write_draft
    if write is None:
        return bench
    known = [known_channel(name) for name in names]
    made = await asyncio.gather(
        *(write(channel.id, bench.evidence, bench.lessons) for channel in known if channel.composed)
    )
    return msgspec.structs.replace(
        bench, drafted={each.channel: each for each in made if isinstance(each, Composed)}
    )


def _with_subject(made: Preparation, subject: str) -> Preparation:
    """The user's own subject on the e-mail that the composer wrote."""
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


async def _bench(
    call: Call,
    request: Any,
    *,
    brand: Brand | None = None,
    sender: str | None = None,
    recipients: tuple[str, ...] = (),
) -> Workbench:
    """Gather what the operator may know: the product page, the repository's facts, and the tenant's memory."""
    if sender is not None and not is_mailbox(sender):
        raise bad_argument("from", "an e-mail address such as ada@example.org", repr(sender[:80]))
    schedule = getattr(request, "schedule_for", None)
    schedule_ms = moment("scheduleFor", schedule) if schedule is not None else None
    page, warnings, fetched = await _page(call, request.product_url)
    tenant_id = brain.tenant_of(request.tenant_id)
    entries, lessons, kinds = await call.services.store.read(
        lambda: lessons_read.recollect(call.caller.workspace_id, tenant_id)
    )
    context = request.repo_context.given() if request.repo_context is not None else {}
    if request.goal and "launchGoal" not in context:
        context["launchGoal"] = request.goal
    chars = len(msgspec.json.encode((request, page))) + sum(len(entry.text) for entry in entries)
    return Workbench(
        evidence=await run_long_apart(
            chars,
            gathering.gather,
            product_url=request.product_url or "",
            page=page,
            repo_context=context,
            brand=msgspec.to_builtins(brand) if brand is not None else {},
            entries=entries,
        ),
        lessons=lessons,
        connectors=frozenset(call.services.connectors),
        ready=await _ready(call),
        kinds=kinds,
        now_ms=call.now_ms,
        warnings=warnings,
        fetched=fetched,
        schedule_ms=schedule_ms,
        sender=sender or call.services.default_sender,
        recipients=recipients,
    )


def _chars(request: Any, bench: Workbench, supplied: Supplied | None) -> int:
    """How much there is to read and compare. Composing is never a short work."""
    if supplied is None:
        return SHORT_CHARS + 1
    learned = bench.lessons
    return (
        len(msgspec.json.encode(request))
        + sum(len(fact.text) for fact in bench.evidence.facts)
        + sum(len(each.before) + len(each.after) for each in learned.edits)
        + sum(len(each.text) + len(each.reason) for each in learned.rejections)
        + sum(len(each.text) for each in learned.refused_claims)
    )


async def _ready(call: Call) -> frozenset[str]:
    """Which of the channels' connectors could perform for this workspace now."""
    known = call.services.connectors
    names = [
        name for name in dict.fromkeys(n for row in channels.TABLE for n in row.connectors) if name in known
    ]
    found = await asyncio.gather(*(known[name].readiness(call.caller.workspace_id) for name in names))
    return frozenset(name for name, readiness in zip(names, found, strict=True) if readiness.ready)


async def _page(call: Call, url: str | None) -> tuple[Page | None, tuple[str, ...], dict[str, Any] | None]:
    """The product page, or the warning that says why it could not be read; and what was asked for, which is on record
    whatever becomes of the call."""
    if url is None:
        return None, (), None
    if not _is_web_address(url):
        raise bad_argument("productUrl", "a web address such as https://example.org", repr(url[:80]))
    now_ms = call.services.clock.now_ms()
    found = await call.services.read_page(url)
    fetched: dict[str, Any] = {"url": url, "fetchedAt": iso_time(now_ms), "status": found.status}
    if found.found_at not in ("", url):
        fetched["foundAt"] = found.found_at
    if found.problem:
        fetched["problem"] = found.problem
    workspace_id = call.caller.workspace_id
    event = journal.NewEvent("page_fetched", {**fetched, "by": call.caller.name})
    await call.services.store.write(lambda: journal.append(workspace_id, workspace_id, [event], now_ms))
    if found.page is None:
        return None, (f"The product page could not be read: {found.problem}",), fetched
    return found.page, _odd(found.page), fetched


def _odd(page: Page) -> tuple[str, ...]:
    """What a human should know about a page before trusting a draft that was made from it."""
    texts = (page.title, page.description, page.og_title, page.og_description, page.site_name)
    said = [text for text in (*texts, *page.headings, *page.paragraphs) if text]
    found = {
        "The product page was read and says nothing in words.": not said,
        "The product page speaks to AI systems; that text was left out. Check the page.": any(
            speaks_to_a_model(text) for text in said
        ),
        "The product page is very large; only its beginning was read.": page.truncated,
    }
    return tuple(warning for warning, holds in found.items() if holds)


def _too_little(bench: Workbench) -> Refusal:
    """What is missing, and why the page that was named does not help."""
    if not bench.warnings:
        return Refusal(Reason.MISSING_REPO_CONTEXT)
    why = " ".join(bench.warnings)
    wanted = "I need to know what you built; without that the first drafts would be generic."
    return Refusal(Reason.MISSING_REPO_CONTEXT, user_message=f"{why} {wanted}")


def _is_web_address(url: str) -> bool:
    """Whether an address may stand as the link of a post: nothing that runs, no password, one word."""
    try:
        parts = urlsplit(url)
        bare = bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bare and url.isprintable() and " " not in url


def _request(call: Call, request: Any, operator: str, tool: str) -> Request:
    inputs = msgspec.to_builtins(request)
    key = inputs.pop("idempotencyKey", None)
    return Request(
        principal=call.caller,
        operator=operator,
        tool=tool,
        inputs={name: value for name, value in inputs.items() if value is not None},
        tenant_id=TenantId(request.tenant_id) if request.tenant_id is not None else None,
        key=key,
        webhook_url=inputs.get("webhookUrl"),
        run_id=call.continuing,
    )


def refuse_webhook(call: Call, url: str | None) -> None:
    """An address that can never get a delivery is refused while somebody can still mend it (security rule 11)."""
    why = call.services.screen_webhook(url) if url is not None else None
    if url is not None and why is not None:
        raise bad_argument(
            "webhookUrl", f"a public https address to post to. {why}", repr(shown_url(url)[:80])
        )


def _guided(bench: Workbench, preparation: Preparation, following: tuple[SuggestedCall, ...]) -> Preparation:
    outputs = preparation.outputs
    if bench.fetched is not None:
        outputs = {**outputs, staging.FETCHED: bench.fetched}
    return msgspec.structs.replace(preparation, outputs=outputs, next_calls=following)


NEXT_LAUNCH = (
    SuggestedCall(
        "chieflab_create_social_graphics",
        {},
        "the user wants other pictures",
        {"headline": "the words on the picture"},
    ),
)
NEXT_POST = ()
NEXT_SEND = (
    SuggestedCall(
        "chieflab_save_contacts",
        {},
        "the user wants to keep a contact",
        {"contacts": "name and e-mail address"},
    ),
)

TOOLS = (
    Tool(
        name="chieflab_launch_product",
        title="Launch a product",
        description="Prepares a whole launch: positioning, a draft per channel, landing copy and e-mail, each "
        "staged for "
        "approval; nothing goes out. USE WHEN the user has built, shipped or deployed something and wants to launch "
        "it, "
        "get users, or asks what to do now. Give repoContext (whatChanged, readme, targetCustomer, …) or productUrl; "
        "put your own texts into drafts. Then show every draft in the chat and stop.",
        category="primary",
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
        description="Prepares one post for one channel and stages it for approval; nothing goes out. USE WHEN the "
        "user "
        "wants a single post. Put your text into body; without it the server composes one for LinkedIn, X and the "
        "site.",
        category="primary",
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
        "wants to write to somebody. Put your text into body and its subject into subject.",
        category="primary",
        behaviour=WRITES,
        request=Send,
        reply=SendReply,
        handler=prepare_send,
        scope=SCOPE,
    ),
)
