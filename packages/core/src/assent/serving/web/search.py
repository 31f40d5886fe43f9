"""Search: commands, pages, runs, people and agents by their words, on a page of its own and, where a script runs, in a
dialog of every page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from starlette.responses import Response

from assent.engine.actions import indexing
from assent.engine.actions.search import split_words
from assent.engine.core import tenancy
from assent.engine.people import members
from assent.engine.people.members import ListedPerson
from assent.engine.views import run_views
from assent.engine.views.names import FirstAction
from assent.engine.views.run_views import RunLine, RunPage
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.serving.web.runs import run_row
from assent.serving.web.shell.console import Screen, Visit
from assent.serving.web.shell.rendering import NavigationEntry

MOST_RUNS: Final = 8
MOST_OTHERS: Final = 6


class Shortcut(Record):
    """What a person may want to do. `words` find it besides its label."""

    label: str
    href: str
    words: str = ""
    icon: str = "act"
    for_owners: bool = False


STOP: Final = Shortcut(
    "Stop all sending", "/search?q=stop", "freeze halt pause emergency everything", "pause"
)
"""Its form stands where it is found by its words."""

COMMANDS: Final = (
    STOP,
    Shortcut("Invite a person", "/settings/people", "add colleague member approver", "user", for_owners=True),
    Shortcut("Connect an agent", "/start", "claude cursor client mcp key", "add"),
    Shortcut("Connect a service", "/connectors", "linkedin mail smtp account provider", "connections"),
    Shortcut("Make a key", "/settings/keys", "api token agent", "add", for_owners=True),
    Shortcut("Add a rule", "/settings/policy", "policy always ask approve two people limit", "check"),
    Shortcut("Import a session", "/sessions/import", "workflow", "download"),
    Shortcut("Export the audit log", "/audit", "csv json verify", "audit"),
    Shortcut("Change how it looks", "/settings", "dark light theme time zone name shortcuts", "settings"),
)


async def search(visit: Visit) -> Response:
    asked = visit.query("q").strip()[:200]
    words = split_words(asked)

    def look() -> Transaction[tuple[RunPage | None, list[tenancy.KeyRecord], tuple[ListedPerson, ...]]]:
        if not words:
            return None, [], ()
        effects, now_ms = visit.services.effects, visit.now_ms
        found = yield from run_views.runs(
            visit.workspace_id, effects, text=asked, before="", most=MOST_RUNS, now_ms=now_ms
        )
        keys = yield from tenancy.list_keys(visit.workspace_id)
        known = (yield from members.list_people(now_ms)) if visit.person.is_owner else ()
        return found, keys, known

    if words:
        await indexing.catch_up(visit.services.store, (visit.workspace_id,))
    runs, keys, known = await visit.read(look)
    commands = [
        each for each in COMMANDS if _may_use(visit, each) and _has(words, f"{each.label} {each.words}")
    ]
    values: dict[str, Any] = {
        "asked": asked,
        "stops": bool(words) and STOP in commands,
        "commands": [
            (each.href, each.icon, each.label, "") for each in commands if each is not STOP or not words
        ],
        "pages": _list_pages(visit, words) if words else [],
        "runs": [_write_run(visit, each, runs.firsts.get(each.run_id, ()), asked) for each in runs.runs]
        if runs is not None
        else [],
        "agents": [("/settings/keys", "people", each.label, "") for each in keys if _has(words, each.label)][
            :MOST_OTHERS
        ],
        "people": [
            ("/settings/people", "user", each.person.name, each.person.email)
            for each in known
            if _has(words, f"{each.person.name} {each.person.email or ''}")
        ][:MOST_OTHERS],
    }
    return visit.page("search.html", values)


def _write_run(
    visit: Visit, line: RunLine, firsts: tuple[FirstAction, ...], asked: str
) -> tuple[str, str, str, str]:
    row = run_row(visit, line, firsts, asked)
    found = row["matches"][0] if row["matches"] else {**row, "badge": row["status"]}
    # Runs of the same words differ by when they began.
    return found["href"], "runs", found["title"], f"{found['badge'].text} · {row['at'].ago}"


def _may_use(visit: Visit, found: Shortcut | NavigationEntry) -> bool:
    return visit.person.is_owner or not found.for_owners


def _list_pages(visit: Visit, words: Iterable[str]) -> list[tuple[str, str, str, str]]:
    """Return the pages of the console with these words, each with its place."""
    entries: tuple[NavigationEntry, ...] = visit.request.app.state.navigation
    names = {each.name: each.label for each in entries}
    return [
        (each.href, each.icon, each.label, names.get(each.of, ""))
        for each in entries
        if _may_use(visit, each) and _has(words, f"{each.label} {names.get(each.of, '')}")
    ]


def _has(words: Iterable[str], text: str) -> bool:
    """Whether each word begins one of a text's."""
    known = split_words(text)
    return all(any(each.startswith(word) for each in known) for word in words)


SCREENS: Final = (Screen("/search", search, "search"),)
