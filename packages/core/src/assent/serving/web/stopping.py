"""Stop sending, and allow it again: on the server, in a workspace, or of one agent.

    POST /stop      `where` is `server`, `workspace` or an agent as `Principal.agent` names it; `label` is its name
    POST /stop/end  the same fields

Both are signed, as every change with lasting effect. A member stops their workspace and its agents, and ends what they
stopped themselves; an owner of the server stops and ends everything. Any screen may have such a form, with the nonce
`stop_nonce` of its frame (`frame.html` has the macros).
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from assent.engine.core import freezes
from assent.gate.records import Freeze
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import MAX_REASON_CHARS
from assent.serving.web.shell.console import OWNERS_ONLY, SEND, Screen, Visit
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused
from assent.use_cases import workspaces

SERVER: Final = "server"
WORKSPACE: Final = "workspace"
SUBJECT: Final = "stop"

NOT_YOURS: Final = PageProblem(
    403,
    "An owner of the server ends this",
    "Someone else stopped sending here. You can end what you stopped yourself.",
    "Ask an owner, or the person whom the note names.",
    Link("/inbox", "Open the inbox"),
)


def read_scope(visit: Visit, form: dict[str, str], *, by: str = "") -> Freeze:
    """Return what a form is about, as the freeze that it would be. Refuses the server to anyone but its owners."""
    where, why = form.get("where", ""), " ".join(form.get("why", "").split())[:MAX_REASON_CHARS]
    if where == SERVER:
        visit.require_owner()
        return Freeze(SYSTEM_WORKSPACE, visit.now_ms, by, why)
    agent = "" if where in ("", WORKSPACE) else where[:MAX_REASON_CHARS]
    label = form.get("label", "")[:MAX_REASON_CHARS] if agent else ""
    return Freeze(visit.workspace_id, visit.now_ms, by, why, agent, label)


def lead_back(form: dict[str, str]) -> str:
    """Return the path of the page that has the form."""
    then = form.get("then", "")
    return then if then.startswith("/") and not then.startswith(("//", "/\\")) else "/inbox"


async def stop(visit: Visit) -> Response:
    form = await visit.form(SUBJECT)
    wanted, back = read_scope(visit, form, by=visit.person.label), lead_back(form)
    text = f"Nothing is sent {wanted.where} until it is allowed again. What is approved stays approved."
    await visit.confirm(
        form,
        "Stop all sending?",
        text,
        "Stop all sending",
        (("Why", wanted.why),) if wanted.why else (),
        danger=True,
        back=back,
    )
    await workspaces.freeze(
        visit.services.store,
        wanted.workspace_id,
        visit.now_ms,
        by=wanted.by,
        why=wanted.why,
        agent=wanted.agent,
        label=wanted.label,
        person_id=visit.person.person_id,
    )
    return visit.go(back)


async def end(visit: Visit) -> Response:
    form = await visit.form(SUBJECT)
    wanted, back = read_scope(visit, form), lead_back(form)
    known = await visit.read(lambda: freezes.list_in(wanted.workspace_id))
    ids = (wanted.workspace_id, wanted.agent)
    held = next((each for each in known if (each.workspace_id, each.agent) == ids), None)
    if held is None:
        return visit.go(back)
    person = visit.person
    if not person.is_owner and not await visit.read(lambda: freezes.was_set_by(held, person.person_id)):
        raise PageRefused(OWNERS_ONLY if held.everywhere else NOT_YOURS)
    text = f"What is approved and due is sent {held.where} within half a minute."
    facts = (("Stopped by", held.by), *((("Why", held.why),) if held.why else ()))
    await visit.confirm(form, "Allow sending again?", text, "Allow sending again", facts, back=back)
    await workspaces.unfreeze(
        visit.services.store,
        held.workspace_id,
        visit.now_ms,
        by=visit.person.label,
        agent=held.agent,
        label=held.label,
    )
    return visit.go(back)


SCREENS: Final = (
    Screen("/stop", stop, "", SEND),
    Screen("/stop/end", end, "", SEND),
)
