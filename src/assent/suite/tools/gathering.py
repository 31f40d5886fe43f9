"""Gathers the input of the operators that write: product page, repository facts, memory, ready
connectors.

Reads only, except for a record of the page that was requested.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import msgspec

from assent.platform.content import speaks_to_a_model
from assent.platform.effects import Run
from assent.platform.jobs import run_long_apart
from assent.platform.memory import memory as brain
from assent.platform.storage import journal
from assent.platform.tools import Call, is_mailbox, moment, require_run
from assent.platform.values import bad_argument, iso_time, require_run_id
from assent.suite.channels.channel import Channel
from assent.suite.channels.registry import TABLE
from assent.suite.content import evidence as gathering
from assent.suite.content.page import Page
from assent.suite.learning import lessons as lessons_read
from assent.suite.operators.definition import Workbench
from assent.suite.process import find_suite
from assent.suite.product_page import read_product_page
from assent.suite.rechecking import add_goal, evidence_given
from assent.suite.tools.operator_requests import Brand


async def find_joined(call: Call, run_id: str | None) -> Run | None:
    """Return the run that a call joins. Refuses an id that this workspace does not have."""
    if run_id is None:
        return None
    wanted = require_run_id(run_id)
    return await call.services.store.read(lambda: require_run(call.caller.workspace_id, wanted))


async def gather_bench(
    call: Call,
    request: Any,
    *,
    brand: Brand | None = None,
    sender: str | None = None,
    recipients: tuple[str, ...] = (),
    joined: Run | None = None,
    channels: Iterable[Channel] = TABLE,
) -> Workbench:
    """Gather the operator's input: product page, repository facts, memory, the input of the run that this
    one joins, and which connectors of these channels are ready."""
    tenant = request.tenant_id or (joined.tenant_id if joined is not None else None)
    if sender is not None and not is_mailbox(sender):
        raise bad_argument("from", "an e-mail address such as ada@example.org", repr(sender[:80]))
    schedule = getattr(request, "schedule_for", None)
    schedule_ms = moment("scheduleFor", schedule) if schedule is not None else None
    page, warnings, fetched = await _page(call, request.product_url)
    tenant_id = brain.tenant_of(tenant)
    entries, lessons, kinds = await call.services.store.read(
        lambda: lessons_read.load_lessons(call.caller.workspace_id, tenant_id)
    )
    given = evidence_given(joined) if joined is not None else {}
    context = {**given.get("repo_context", {})}
    context |= request.repo_context.given() if request.repo_context is not None else {}
    if request.goal:
        if joined is not None:
            context.pop("launchGoal", None)
        context = add_goal(context, request.goal)
    chars = len(msgspec.json.encode((request, page))) + sum(len(entry.text) for entry in entries)
    return Workbench(
        evidence=await run_long_apart(
            chars,
            gathering.gather,
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
        schedule_ms=schedule_ms,
        sender=sender or find_suite(call.services).drafting.default_sender,
        recipients=recipients,
    )


def count_chars(request: Any, bench: Workbench) -> int:
    """Return how many characters are read and compared."""
    facts = sum(len(fact.text) for fact in bench.evidence.facts)
    return len(msgspec.json.encode(request)) + facts + bench.lessons.chars


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
    note = partial(journal.note, workspace_id, "page_fetched", facts, now_ms)
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
