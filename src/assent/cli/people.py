"""`assent people`: list, invite and remove people. An invitation prints a one-time link."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.failures import Failure
from assent.cli.keys import OfWorkspace
from assent.cli.owner import pages_address
from assent.cli.session import CommandSession, command
from assent.cli.workspaces import check_name, use_workspace
from assent.engine.core.tenancy import Workspace
from assent.kernel.limits import DAY_MS, INVITATION_TTL_MS

if TYPE_CHECKING:
    from assent.app import App

app = typer.Typer(no_args_is_help=True)


def invite(
    session: CommandSession,
    name: Annotated[str, typer.Argument(help="Their name.")],
    workspace: OfWorkspace = None,
    email: Annotated[
        str | None, typer.Option("--email", help="Tells people with the same name apart.")
    ] = None,
    owner: Annotated[bool, typer.Option("--owner", help="Let them see and decide everything.")] = False,
) -> None:
    """Invite a person and print their sign-in link: it works once, for three days.

    Anyone who opens the link decides as that person, so it is printed to a terminal only; an agent
    reads pipes. With --json it is written to a pipe, too, and the audit trail says so.
    """
    from assent.engine.people import members, people
    from assent.engine.people.people import Person, Role

    watched = sys.stdout.isatty()
    if not watched and not session.json:
        raise Failure(
            "This link signs in anyone who opens it, so it is shown to a terminal only, and this is a pipe or a file.\n"
            "Run it in a terminal of your own, or with --json, which the audit trail records."
        )
    checked = check_name(name, "A name")
    address = pages_address(session.settings)

    async def make(app: App, found: Workspace) -> dict[str, str]:
        now_ms = app.clock.now_ms()
        person = Person(app.services.new_id(now_ms), checked, Role.OWNER if owner else Role.MEMBER, email)
        entropy = app.services.entropy(people.ENTROPY_BYTES)
        by = members.TERMINAL if watched else "pipe"
        token = await app.store.write(
            lambda: members.invite(person, (found.workspace_id,), entropy, now_ms, by=by)
        )
        url = f"{address or app.settings.base_url}/sign-in/{token}"
        return {"personId": person.person_id, "name": checked, "role": person.role, "url": url}

    made = use_workspace(session, workspace, make)
    session.say(f"Give this to {checked}. It works once, for {INVITATION_TTL_MS // DAY_MS} days:")
    session.give(made, made["url"])


def list_all(session: CommandSession) -> None:
    """List who can sign in."""
    from assent.engine.people import members

    async def read(app: App) -> tuple[members.ListedPerson, ...]:
        now_ms = app.clock.now_ms()
        return await app.store.read(lambda: members.list_people(now_ms))

    known = session.use_app(read)
    views = [
        {
            "personId": each.person.person_id,
            "name": each.person.name,
            "role": each.person.role,
            "email": each.person.email,
            "workspaces": each.places,
            "devices": each.devices,
        }
        for each in known
    ]
    lines = [
        f"{each.person.name} ({each.person.role}), {', '.join(each.places) or 'every workspace'}, "
        f"{each.devices} signed-in browsers  {each.person.person_id}"
        for each in known
    ]
    session.give(
        {"people": views},
        "\n".join(lines) or f"No person can sign in yet. Sign in yourself: {session.again('owner-link')}",
    )


def remove(
    session: CommandSession,
    person_id: Annotated[str, typer.Argument(help="Their id, as `people list` shows it.")],
) -> None:
    """Take a person's access away: their sessions and links end at once."""
    from assent.engine.people import members

    async def end(app: App) -> bool:
        now_ms = app.clock.now_ms()
        return await app.store.write(lambda: members.remove(person_id, now_ms, by=members.TERMINAL))

    if not session.use_app(end):
        raise Failure(
            f"There is no person with the id {person_id!r} who could be removed.\n"
            f"See who is there: {session.again('people', 'list')}"
        )
    session.give({"personId": person_id, "removed": True}, f"Removed {person_id}.")


command(app, "invite")(invite)
command(app, "list")(list_all)
command(app, "remove")(remove)
