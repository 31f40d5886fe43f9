"""The page of wrapped servers: a person lets each tool pass, ask or be hidden, without a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from starlette.responses import Response

from assent.sdk import LOOK_AND_SEND, Link, NavigationEntry, PageProblem, PageRefused, Screen, Visit
from assent_wrap import rulebook
from assent_wrap.profiles import Mode
from assent_wrap.rules import STRICTNESS, describe_rule

LABELS: Final[dict[Mode, str]] = {"pass": "Pass", "gate": "Ask", "hide": "Hide"}
REASONS: Final = {
    "rule": "a rule of this workspace",
    "file": "the rules of its client",
    "hint": "its server says that it only reads",
    "default": "nothing says otherwise",
}
NO_SUCH_TOOL: Final = PageProblem(
    404,
    "There is no such tool",
    "Its server is not wrapped any more, or the tool was never accepted.",
    "Look for it in the list.",
    Link("/agents/tools", "All wrapped tools"),
)


async def tools(visit: Visit) -> Response:
    """List the tools of all wrapped servers, or choose what a call of one does."""
    servers = await rulebook.list_servers(visit.services, visit.workspace_id)
    subject = visit.here("wrapped tools")
    if visit.request.method == "POST":
        visit.require_owner()
        form = await visit.form(subject)
        server, _, name = form.get("tool", "").partition(" ")
        found = next((t for s in servers if s.name == server for t in s.tools if t.name == name), None)
        wanted = next((mode for mode in LABELS if mode == form.get("mode")), None)
        if found is None or wanted is None:
            raise PageRefused(NO_SUCH_TOOL)
        if STRICTNESS.index(wanted) < STRICTNESS.index(found.mode):
            passes = (
                "Every call is made without asking anyone."
                if wanted == "pass"
                else "Each call asks a person."
            )
            facts = (("Server", server), ("Tool", name))
            await visit.confirm(
                form, f"{LABELS[wanted]} from now on?", passes, LABELS[wanted], facts, danger=True
            )
        await rulebook.set_mode(
            visit.services, visit.workspace_id, server, name, wanted, visit.write, by=visit.person.label
        )
        return visit.go("/agents/tools?did=set")
    values = {
        "servers": servers,
        "labels": LABELS,
        "reasons": REASONS,
        "describe": describe_rule,
        "did": visit.query("did") == "set",
        "nonce": visit.nonce(subject),
    }
    return visit.page("agents_tools.html", values)


SCREENS: Final = (
    Screen(
        "/agents/tools",
        tools,
        "agents",
        LOOK_AND_SEND,
        entry=NavigationEntry("wrapped", "/agents/tools", "Wrapped tools", "act", of="agents"),
        templates=Path(__file__).with_name("templates"),
    ),
)
