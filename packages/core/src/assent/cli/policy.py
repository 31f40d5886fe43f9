"""`assent policy`: show, check, set and replay who may approve what."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assent.cli.keys import OfWorkspace
from assent.cli.session import CommandSession, Failure
from assent.cli.workspaces import BY, use_workspace
from assent.engine.actions import policies
from assent.engine.core.tenancy import Workspace
from assent.gate.policy import PRESETS, find_preset
from assent.gate.rules.source import BadPolicy, preset_source, write_toml
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.present.rule_text import describe_policy, name_policy

if TYPE_CHECKING:
    from assent.app import App
    from assent.engine.actions.policies import PolicyVersion, ReplayReport
    from assent.gate.policy import Policy

PolicyOrFile = Annotated[
    str,
    typer.Argument(
        metavar="PRESET|FILE",
        help="relay, people, two_people, or a TOML file with rules.",
        show_default=False,
    ),
]


def show(
    session: CommandSession,
    workspace: OfWorkspace = None,
    toml: Annotated[bool, typer.Option("--toml", help="Print it as the file that `set` takes.")] = False,
) -> None:
    """Show the policy of a workspace in words."""
    session.require_data()
    policy, version = use_workspace(session, workspace, _find)
    text = write_toml(version.source) if toml else _describe(policy, version)
    session.give(_view(policy, version), text.rstrip())


def check(session: CommandSession, policy: PolicyOrFile) -> None:
    """Check a policy without setting it, and say what it means."""
    session.require_data()
    source = _read_source(policy)

    async def read(app: App) -> tuple[Policy, list[str]]:
        draft = await _run_or_fail(app, lambda: policies.read(source))
        return draft, _list_unknown(app, draft)

    draft, unknown = session.use_app(read)
    words = describe_policy(draft)
    text = "\n".join((f"{name_policy(draft)}.", *(f"- {line}" for line in words), *unknown))
    session.give({"ok": True, "name": name_policy(draft), "words": words, "warnings": unknown}, text)


def set_policy(session: CommandSession, policy: PolicyOrFile, workspace: OfWorkspace = None) -> None:
    """Set the policy of a workspace. It also applies to approved actions that are not sent yet."""
    session.require_data()
    source = _read_source(policy)

    async def save(app: App, found: Workspace) -> tuple[Policy, PolicyVersion]:
        from assent.use_cases import workspaces

        write = partial(_run_or_fail, app, write=True)
        await workspaces.set_policy(found.workspace_id, source, app.clock.now_ms(), write, by=BY)
        return await _find(app, found)

    made, version = use_workspace(session, workspace, save)
    session.give(_view(made, version), _describe(made, version))


def replay(session: CommandSession, policy: PolicyOrFile, workspace: OfWorkspace = None) -> None:
    """Say which approvals of the last 30 days would have another result under this policy."""
    session.require_data()
    source = _read_source(policy)

    async def run(app: App, found: Workspace) -> ReplayReport:
        draft = await _run_or_fail(app, lambda: policies.read(source))
        now_ms = app.clock.now_ms()
        return await app.store.read(lambda: policies.replay(found.workspace_id, draft, now_ms))

    report = use_workspace(session, workspace, run)
    changed = [
        (each.at or "", each.title, each.by, each.was, each.would_be, each.needs) for each in report.changed
    ]
    lines = [f"{len(report.decisions)} approvals of the last 30 days; {len(changed)} would change."]
    if changed:
        lines.append(session.table(("when", "what", "approved by", "was", "would be", "needs"), changed))
    if not report.complete:
        lines.append("There were more than a replay reads. Only the latest are included.")
    session.give(
        {"decisions": report.decisions, "changed": len(changed), "complete": report.complete},
        "\n".join(lines),
    )


def _read_source(given: str) -> dict[str, Any]:
    """Return the source of a preset or a file."""
    if find_preset(given) is not None:
        return preset_source(given)
    path = Path(given)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Failure(
            f"{given} is neither a preset nor a file.\nName a file that exists, or a preset: {', '.join(PRESETS)}."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{given} cannot be read: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise Failure(f"{given} is not valid TOML: {error}.\nNothing was set. Correct that line.") from None


async def _run_or_fail(app: App, begin: Any, *, write: bool = False) -> Policy:
    """Run a transaction that reads or saves a policy. Raises `Failure` with every problem."""
    try:
        policy: Policy = await (app.store.write if write else app.store.read)(begin)
    except BadPolicy as bad:
        lines = [
            f"  {each.path}: this must be {each.expected}, and it is {each.got}" for each in bad.problems
        ]
        raise Failure(
            "\n".join(
                ("This policy cannot be used. Nothing was set.", *lines, "Correct it, then run this again.")
            )
        ) from None
    return policy


def _list_unknown(app: App, policy: Policy) -> list[str]:
    """Name what the rules match on and this server does not have, which may be a spelling mistake."""
    effects = app.owner_services.effects
    lines = []
    for rule in policy.rules:
        for kind, named, known in (
            ("effect", rule.when.effect, effects.types),
            ("channel", rule.when.channel, effects.channels),
            ("operator", rule.when.operator, effects.operators),
        ):
            lines += [
                f"Note: rule {rule.name!r} names the {kind} {each!r}, which this server does not have now."
                for each in named
                if each not in known
            ]
    return lines


async def _find(app: App, found: Workspace) -> tuple[Policy, PolicyVersion]:
    def look() -> Transaction[tuple[Policy, PolicyVersion]]:
        policy = yield from policies.find(found.workspace_id)
        return policy, (yield from policies.find_version(found.workspace_id))

    return await app.store.read(look)


def _describe(policy: Policy, version: PolicyVersion) -> str:
    lines = [f"{name_policy(policy)}.", *(f"- {line}" for line in describe_policy(policy))]
    if version.version:
        lines.append(f"Version {version.version}, set by {version.by} on {iso_time(version.at_ms)}.")
    return "\n".join(lines)


def _view(policy: Policy, version: PolicyVersion) -> dict[str, Any]:
    return {
        "name": name_policy(policy),
        "words": describe_policy(policy),
        "policy": version.source,
        "version": version.version,
        "digest": version.digest,
        "setBy": version.by,
        "setAt": iso_time(version.at_ms),
    }
