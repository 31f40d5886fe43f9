"""`assent people`: list, invite and remove people, one by one or by a file. An invitation prints a
one-time link."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import typer

from assent.cli.keys import OfWorkspace
from assent.cli.owner import check_watched, pages_address
from assent.cli.session import CommandSession, Failure
from assent.cli.workspaces import check_name, use_workspace
from assent.engine.core.tenancy import Workspace
from assent.engine.people import members, people
from assent.engine.people.members import RosterEntry
from assent.engine.people.people import Person, Role
from assent.kernel.limits import DAY_MS, INVITATION_TTL_MS, MAX_NAME_CHARS
from assent.tools.arguments import is_address

if TYPE_CHECKING:
    from assent.app import App
    from assent.engine.people.members import RosterPlan


def invite(
    session: CommandSession,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Their name.")],
    workspace: OfWorkspace = None,
    email: Annotated[
        str | None, typer.Option("--email", help="Their e-mail address, which is shown beside the name.")
    ] = None,
    owner: Annotated[bool, typer.Option("--owner", help="Let them see and decide everything.")] = False,
) -> None:
    """Invite a person and print their sign-in link: it works once, for three days.

    Anyone who opens the link decides as that person, so it is printed to a terminal only; an agent
    reads pipes. With --json it is written to a pipe, too, and the audit trail says so.
    """
    watched = check_watched(session)
    checked = check_name(name, "A name")
    if email is not None and not is_address(email):
        raise Failure(f"{email!r} is no e-mail address. Write it as ada@example.org, without a name.")
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
        f"{each.person.label} ({each.person.role}), {', '.join(each.places) or 'every workspace'}, "
        f"{each.devices} signed-in browser{'' if each.devices == 1 else 's'}  {each.person.person_id}"
        for each in known
    ]
    session.give(
        {"people": views},
        "\n".join(lines) or f"No person can sign in yet. Sign in yourself: {session.again('owner-link')}",
    )


def remove(
    session: CommandSession,
    person_id: Annotated[
        str, typer.Argument(metavar="PERSON-ID", help="Their id, as `people list` shows it.")
    ],
) -> None:
    """Take a person's access away: their sessions and links end at once."""

    async def end(app: App) -> bool:
        now_ms = app.clock.now_ms()
        return await app.store.write(lambda: members.remove(person_id, now_ms, by=members.TERMINAL))

    if not session.use_app(end):
        raise Failure(
            f"There is no person with the id {person_id!r} who could be removed.\n"
            f"See who is there: {session.again('people', 'list')}"
        )
    session.give({"personId": person_id, "removed": True}, f"Removed {person_id}.")


def apply(
    session: CommandSession,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A TOML file of people.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Apply without asking.")] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove the people who are not in the file, but never the first owner."),
    ] = False,
) -> None:
    """Make the people of this server those of a file: shows the differences, then asks.

    Each person has a name, an email (or the id that `people list` shows), a role (owner or member) and
    workspaces. Applying the same file again changes nothing. New people get an invitation link, which is
    shown to a terminal only, or with --json.
    """
    listed = PeopleFile(file)
    watched = sys.stdout.isatty()
    address = pages_address(session.settings)

    async def compare(app: App) -> RosterPlan:
        return await app.store.read(lambda: members.plan(listed.entries, prune=prune))

    async def write(app: App, plan: RosterPlan) -> list[dict[str, Any]]:
        now_ms, made = app.clock.now_ms(), []
        ids = tuple(app.services.new_id(now_ms) for _ in plan.added)
        shown = watched or session.json
        entropy = tuple(app.services.entropy(people.ENTROPY_BYTES) for _ in plan.added) if shown else ()
        by = members.TERMINAL if watched else "pipe"
        for person, token in await app.store.write(
            lambda: members.apply(listed.entries, plan, ids, entropy, now_ms, prune=prune, by=by)
        ):
            url = f"{address or app.settings.base_url}/sign-in/{token}" if token is not None else None
            made.append(
                {"personId": person.person_id, "name": person.name, "email": person.email, "url": url}
            )
        return made

    try:
        plan = session.use_app(compare)
        session.say(_describe(plan))
        if not plan.is_empty and not yes:
            session.confirm("Apply this?", "Nothing was changed")
        made = session.use_app(lambda app: write(app, plan)) if not plan.is_empty else []
    except members.RosterProblem as problem:
        raise listed.fail(problem.entry, problem.key, str(problem)) from None
    except members.RosterMoved:
        raise Failure(
            "The people of this server changed in the meantime, so nothing was applied. Run this again."
        ) from None
    if made and watched and not session.json:
        session.say(
            f"Give each new person their link. It works once, for {INVITATION_TTL_MS // DAY_MS} days:"
        )
    elif made and not session.json:
        session.say(
            "Invitation links are shown to a terminal only. New people can sign in by mail or with your identity "
            "provider, if one is set up."
        )
    view = {
        "added": made,
        "changed": [
            {"personId": each.person.person_id, "changes": each.differences} for each in plan.changed
        ],
        "removed": [each.person_id for each in plan.removed],
        "kept": [each.person_id for each in plan.kept],
    }
    lines = [f"{each['name']}: {each['url']}" for each in made if each["url"] is not None]
    if session.json or lines:
        session.give(view, "\n".join(lines))


def _describe(plan: RosterPlan) -> str:
    """The differences, one person on a line."""
    added = [f"+ {each.person.label}, {each.person.role.value}" for each in plan.added]
    changed = [f"~ {each.person.label}: {', '.join(each.differences)}" for each in plan.changed]
    removed = [f"- {each.label} ({each.person_id}): loses access" for each in plan.removed]
    kept = [f"  {each.label} ({each.person_id}) is not in the file and stays" for each in plan.kept]
    return "\n".join([*added, *changed, *removed, *kept, *(["Nothing to change."] if plan.is_empty else [])])


# Reads a file of people (TOML). A mistake is named with the number of its person and its key.
#
# Checks what the file alone can tell; `engine.people.members` compares it with the people who are there.

EXAMPLE: Final = """\
[[person]]
name = "Grace Hopper"
email = "grace@example.org"
role = "member"          # or "owner"
workspaces = ["local"]   # names or ids; an owner needs none
"""


class PersonEntry(msgspec.Struct, forbid_unknown_fields=True):
    """One `[[person]]` of the file."""

    name: str
    email: str | None = None
    id: str | None = None
    role: Role = Role.MEMBER
    workspaces: tuple[str, ...] = ()


class ListedPeople(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    person: list[PersonEntry] = []


class PeopleFile:
    """The entries of a file."""

    def __init__(self, path: Path) -> None:
        """Raises `Failure`."""
        self._path = path
        try:
            found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), ListedPeople)
        except OSError as error:
            raise Failure(f"The file {path} cannot be read: {error.strerror}.\nName another one.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Failure(f"The file {path} is not TOML: {error}.\nCorrect that line.") from None
        except msgspec.ValidationError as error:
            raise Failure(
                f"{path}: {error}. Nothing was changed. Write every person as:\n\n{EXAMPLE}"
            ) from None
        self.entries = tuple(self._read(position, each) for position, each in enumerate(found.person))
        self._refuse_repeated()

    def fail(self, position: int, key: str, text: str) -> Failure:
        """The failure for one key of one entry."""
        return Failure(
            f"{self._path}, person {position + 1}: {key} {text}.\nCorrect it. Nothing was changed."
        )

    def _read(self, position: int, given: PersonEntry) -> RosterEntry:
        name = " ".join(given.name.split())
        email, person_id = ((each or "").strip() or None for each in (given.email, given.id))
        if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
            raise self.fail(position, "name", f"is no name of at most {MAX_NAME_CHARS} characters")
        if email is None and person_id is None:
            raise self.fail(position, "email", "is missing, and there is no id")
        if email is not None and not is_address(email):
            raise self.fail(position, "email", f"{email!r} is no e-mail address")
        return RosterEntry(
            person_id=person_id, email=email, name=name, role=given.role, workspaces=given.workspaces
        )

    def _refuse_repeated(self) -> None:
        seen: dict[tuple[str, str], int] = {}
        for position, each in enumerate(self.entries):
            for key, value in (("id", each.person_id), ("email", (each.email or "").lower())):
                first = seen.setdefault((key, value), position) if value else position
                if first != position:
                    raise self.fail(position, key, f"{value!r} is that of person {first + 1}, too")
