"""No effect without a stored approval of exactly these bytes by a person, or by an agent that passes it on and is
marked so: over everything that the server can do.

`contracts/calls.toml` lists every call by which it reaches beyond its own store. The first tests hold that list and the
registries together. The others let every tool and every job act on actions in every state and compare what providers
were asked to do with the approvals in the journal; a build in which one path skips the sentence is caught.
"""

from __future__ import annotations

import ast
import dataclasses
import socket
import subprocess
import tomllib
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, PUBLISH, SEND, STATES, WITHDRAW, Gate
from tests.support.docs.script import load_script
from tests.support.extensions.fixtures import BILLING, gate_with
from tests.support.own_sql import bind_marks
from tests.support.sources import ROOT, list_modules
from tests.support.surfaces import START_MS, signed_in
from tests.support.wrap.kit import Wrapped
from tests.wire.actions.test_ways_to_act import REACH_OUT, functions

from assent import ports
from assent.engine.actions import actions, decisions, execution, guards, undo
from assent.engine.core.services import Outgoing
from assent.gate import gate
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Action, Approval, Assurance, Effect, Status
from assent.gate.seals import Seals
from assent.gate.transitions import EXECUTING
from assent.gate.undo import UNDO_OF
from assent.kernel.ids import ActionId
from assent.ports import Context, Delivered, Single
from assent.present.next_steps import UNDO
from assent.tools import approvals
from assent.tools.catalog import input_schema
from assent.use_cases import decisions as use_cases
from assent.use_cases import runs
from assent_launch.learning import measurement
from assent_wrap import listing
from assent_wrap.profiles import Mode, Profile

SENDING = (EXECUTE, PUBLISH, SEND)
EVERY_ACTION = "SELECT action_id FROM actions WHERE workspace_id = ?"
CONTRACT: dict[str, Any] = tomllib.loads((ROOT / "contracts/calls.toml").read_text())
OPENING = {"httpx", "smtplib", "socket", "subprocess", "ftplib", "telnetlib", "http.client", "urllib.request"}
STARTING = {
    "open_connection",
    "create_connection",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "Popen",
}
CARRIES = "carries the calls above"
EXPORTS = {"assent.platform", "assent.sdk"}
"""The modules from which packages import what carries calls."""
SLOW = {"chieflab_launch_product", "chieflab_diagnose_marketing", "chieflab_create_social_graphics"}
"""They fetch pages and draw pictures. That no call of theirs acts is read from the sources (`REACH_OUT`)."""

OF_THE_SERVER = {"Row", "Signal", "Store", "ComponentStore", "Clock", "HttpClient", "NotifierContext"}


def listed(registry: str) -> set[str]:
    return {each["name"] for each in CONTRACT["call"] if each["registry"] == registry}


def port_methods() -> Iterator[str]:
    """The methods of each port, but for the store, the clock, and the network that connectors and notifiers are given.
    The package that measures has ports of its own."""
    for module in (ports, measurement):
        for name, port in vars(module).items():
            if (
                getattr(port, "_is_protocol", False)
                and port.__module__ == module.__name__
                and name not in OF_THE_SERVER
            ):
                yield from (
                    f"{name}.{each}" for each, made in vars(port).items() if callable(made) and each[0] != "_"
                )


def opens_connections(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if isinstance(node, ast.Attribute) and node.attr in STARTING:
            return True
        if OPENING & set(names):
            return True
    return False


def find_carriers() -> dict[str, set[str]]:
    """The modules that carry calls, and what of each sends: its functions and classes with asynchronous code."""
    carriers = {
        each["name"] for each in CONTRACT["call"] if (each["registry"], each["under"]) == ("socket", CARRIES)
    }
    return {
        name: {
            node.name
            for node in ast.parse(list_modules()[name].read_text()).body
            if isinstance(node, ast.AsyncFunctionDef | ast.ClassDef) and node.name[0] != "_"
            if any(isinstance(each, ast.AsyncFunctionDef) for each in ast.walk(node))
        }
        for name in carriers
    }


def list_senders() -> Iterator[str]:
    """The functions that call what carries calls, or hand it on, by whatever name they import it."""
    carriers = find_carriers()
    homes = {name.removesuffix(".py").replace("/", ".") for name in carriers} | EXPORTS
    sends = set().union(*carriers.values())
    for name, path in list_modules().items():
        if name in carriers:
            continue
        tree = ast.parse(path.read_text())
        imports = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
        names = {
            alias.asname or alias.name
            for each in imports
            for alias in each.names
            if each.module in homes and alias.name in sends
        }
        modules = {
            alias.asname or alias.name
            for each in imports
            for alias in each.names
            if f"{each.module}.{alias.name}" in homes
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
                refers(part, names, modules, sends) for part in list_used(node)
            ):
                yield f"{name.removeprefix('assent/')} {node.name}"


def list_used(node: ast.AST) -> Iterator[ast.expr]:
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            yield from (each.func, *each.args, *(given.value for given in each.keywords))
        elif isinstance(each, ast.Assign | ast.Return) and each.value is not None:
            yield each.value


def refers(node: ast.expr, names: set[str], modules: set[str], sends: set[str]) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id in modules and node.attr in sends
    return isinstance(node, ast.Name) and node.id in names


def test_every_call_beyond_the_store_is_listed_with_its_reason() -> None:
    assert listed("port") == set(port_methods())
    assert listed("mode") == {*get_args(Mode), *({"observe"} & set(Profile.__struct_fields__))}
    assert listed("network") == {f"Outgoing.{each.name}" for each in dataclasses.fields(Outgoing)}
    wrap = "assent_wrap/"
    assert listed("wrap") == {name.removeprefix(wrap) for name in REACH_OUT if name.startswith(wrap)}
    assert listed("socket") == {name for name, path in list_modules().items() if opens_connections(path)}
    assert listed("sender") == set(list_senders())
    assert all(each["under"] for each in CONTRACT["call"])


@pytest.mark.rule("E5", "E10", "E64")
def test_only_a_claimed_action_becomes_the_context_of_a_connector() -> None:
    """What performs under an approval gets a `Context`, which only `gate.open_gate` lets come about."""
    steps = ("ApprovedAction", "open_gate", "Context")
    makers = {
        f"{name} {called}"
        for name, function in functions()
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        if (called := getattr(node.func, "id", getattr(node.func, "attr", ""))) in steps
    }
    opened = {
        "engine/actions/execution.py call_connector Context",
        "engine/actions/execution.py call_connector open_gate",
        "engine/actions/execution.py open_claim open_gate",
        "engine/actions/reconciliation.py ask_provider Context",
        "engine/actions/reconciliation.py ask_provider open_gate",
        "gate/gate.py open_gate ApprovedAction",
    }
    assert makers == opened


def test_the_documentation_states_the_sentence_with_the_list() -> None:
    page = (ROOT / "docs/approving.md").read_text()
    assert CONTRACT["sentence"] in page
    assert load_script("pages").fill(page) == page
    for each in CONTRACT["call"]:
        assert f"| `{each['name']}` |" in page, each["name"]


class Watched:
    """A connector, and every effect that it was given, with the bytes as they reached it."""

    def __init__(self, made: Any, seen: list[tuple[Action, str]]) -> None:
        self._made, self._seen = made, seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        self._seen.append((ctx.action, effect.digest()))
        done: Delivered = await self._made.perform(ctx, effect)
        return done


def watch(surface: Gate) -> list[tuple[Action, str]]:
    seen: list[tuple[Action, str]] = []
    held: Any = surface.app.owner_services.connectors
    for name, provider in [*held.items()]:
        held[name] = Watched(provider, seen)
    return seen


class Beyond:
    """What this process does beyond its store, by whatever library: the hosts that it looks up and connects to, and the
    programs that it starts. And what each decider said that they saw."""

    def __init__(self, surface: Gate, patch: pytest.MonkeyPatch) -> None:
        self.reached: list[str] = []
        self.shown: dict[str, list[SeenVersion]] = defaultdict(list)
        store = urlsplit(surface.app.settings.database_url)
        own = {store.hostname, store.port}
        for where, name in (
            (socket.socket, "connect"),
            (socket.socket, "connect_ex"),
            (socket, "getaddrinfo"),
            (subprocess.Popen, "__init__"),
        ):
            patch.setattr(where, name, self._note(name, getattr(where, name), own))
        approve = decisions.approve

        def noting(decider: Decider, action_id: ActionId, seen: SeenVersion, *more: Any, **given: Any) -> Any:
            done = yield from approve(decider, action_id, seen, *more, **given)
            self.shown[action_id].append(seen)
            return done

        patch.setattr(decisions, "approve", noting)
        for taking_back in ("withdraw", "reject"):
            patch.setattr(decisions, taking_back, self._forget(getattr(decisions, taking_back)))

    def _forget(self, take_back: Callable[..., Any]) -> Callable[..., Any]:
        def noting(decider: Decider, action_id: ActionId, *more: Any, **given: Any) -> Any:
            done = yield from take_back(decider, action_id, *more, **given)
            self.shown[action_id].clear()
            return done

        return noting

    def _note(self, name: str, original: Callable[..., Any], own: set[Any]) -> Callable[..., Any]:
        def noting(*given: Any, **more: Any) -> Any:
            address = next((each for each in given if isinstance(each, tuple)), given[:2])
            if isinstance(given[0], socket.socket) and given[0].family == socket.AF_UNIX:
                return original(*given, **more)
            if not own & set(address):
                self.reached.append(f"{name} {address!r:.80}")
            return original(*given, **more)

        return noting

    def was_shown(self, action: Action, digest: str, staged: str) -> bool:
        """Whether someone approved, and took nothing back, who said that they saw these bytes. Who names none has seen
        what was staged."""
        return any(
            digest.removeprefix("sha256:").startswith(each.digest.removeprefix("sha256:"))
            if each.digest
            else each.revision == action.revision or (each.revision is None and digest == staged)
            for each in self.shown[action.action_id]
        )


async def arrange(surface: Gate) -> list[str]:
    """An action in every state, one whose approval ended in each way, and one that the database's owner approved."""
    found = [await surface.bring_to(state, body=f"In the state {state}.") for state in STATES]
    edited = await surface.approved(connector="unaware", body="Approved, and then edited.")
    await surface.done(EDIT, actionId=edited, body="Edited, and not approved again.")
    withdrawn = await surface.approved(connector="unaware", body="Approved, and then withdrawn.")
    await surface.done(WITHDRAW, actionId=withdrawn, reason="Not yet.")
    high = await surface.staged(connector="unaware", body="Of high risk.", severity="high")
    stale = await surface.staged(connector="unaware", body="Read, and then edited.")
    read = (await surface.stored(stale)).digest
    await surface.done(EDIT, actionId=stale, body="Edited, and approved as it was before.")
    await surface.ask(APPROVE, actionId=stale, digest=read)
    forged = await surface.staged(connector="unaware", body="Approved by no one.")
    digest = (await surface.stored(forged)).digest
    yes = Approval(by="Ada", at_ms=START_MS, assurance=Assurance.PERSON, digest=digest)
    await surface.overwrite(forged, status=Status.APPROVED, approval=yes)
    return [*found, edited, withdrawn, high, stale, forged]


async def arrange_undo(surface: Gate) -> list[str]:
    """A refund that waits, one that was made, and one of which the undo waits."""
    found = []
    for _ in range(3):
        staged = await surface.done(
            "acme_billing_refund", customer="Ada", amount="12.00 EUR", reason="broken"
        )
        found.append(staged["actions"][0]["id"])
    for each in found[1:]:
        await surface.approve_as(Assurance.PERSON, each)
        await surface.done(EXECUTE, actionId=each)
    undone = await surface.done(UNDO, actionId=found[2])
    return [*found, undone["actions"][0]["id"]]


def fill(tool: Any, action: Action, values: dict[str, Any]) -> dict[str, Any]:
    """Arguments that a tool takes, about an action."""
    schema = input_schema(tool.request)
    about = {"actionId": action.action_id, "digest": action.digest, "runId": action.run_id, "send": True}
    own = {name: value for name, value in about.items() if name in schema.get("properties", {})}
    return {**{name: values[name] for name in schema.get("required", ()) if name in values}, **own}


async def sweep(
    surface: Gate, patch: pytest.MonkeyPatch, arrange: Callable[[Gate], Awaitable[list[str]]] = arrange
) -> list[str]:
    """Call every tool about every action, first those that send and then the one that approves, and run the jobs of a
    day. Returns what providers were asked to do against the sentence, and what left by another way."""
    seen, values, beyond = watch(surface), load_script("pages").VALUES, Beyond(surface, patch)
    known = await arrange(surface)
    tools = [each for each in surface.surfaces.edge.catalog.tools if each.name not in SLOW]
    for tool in sorted(tools, key=lambda each: (each.name not in SENDING, each.name != APPROVE)):
        takes_action = "actionId" in input_schema(tool.request).get("properties", {})
        for action_id in known if takes_action else known[:1]:
            await surface.ask(tool.name, **fill(tool, await surface.stored(action_id), values))
    staged = await surface.app.store.read(Single(bind_marks(EVERY_ACTION, surface.workspace_id)))
    for row in staged:  # also what a tool has just staged
        await surface.ask(EXECUTE, actionId=row["action_id"])
    for _ in range(3):
        surface.clock.advance(hours=8)
        await surface.run_jobs()
    assert len(seen) > len(known) // 4, "a sweep in which little is sent proves little"
    found = [await find_breach(surface, beyond, action.action_id, digest) for action, digest in seen]
    return [*filter(None, found), *beyond.reached]


async def find_breach(surface: Gate, beyond: Beyond, action_id: str, digest: str) -> str:
    """Why these bytes should not have left; empty if a stored approval covers them, of one to whom they were shown."""
    stored = await surface.stored(action_id)
    events = await surface.events(stored.run_id)
    about = [each["facts"] for each in events if each["facts"].get("actionId") == action_id]
    given = [
        facts
        for facts, event in zip(
            about, (e for e in events if e["facts"].get("actionId") == action_id), strict=True
        )
        if event["kind"] == "action_approve" and facts["digest"] == digest
    ]
    if not given:
        return f"{stored.effect.body!r}: nobody approved these bytes"
    if any((facts["via"] == "chat") != (facts["assurance"] == Assurance.AGENT) for facts in given):
        return f"{stored.effect.body!r}: an agent passed it on, and it is not marked so"
    staged = next(facts["digest"] for facts in about if "digest" in facts)
    if not beyond.was_shown(stored, digest, staged):
        return f"{stored.effect.body!r}: who approved it saw other bytes, or took it back"
    return ""


async def test_every_effect_of_every_tool_and_job_has_its_approval(
    surface: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await sweep(surface, monkeypatch) == []


@pytest.fixture
async def billing(database_url: str, tmp_path: Path, transport: str) -> AsyncIterator[Gate]:
    """A server whose effects can be undone."""
    async with signed_in(gate_with((str(BILLING),), database_url, tmp_path / "billing", transport)) as gate:
        yield gate


async def test_every_effect_that_can_be_undone_and_every_undo_has_its_approval(
    billing: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await sweep(billing, monkeypatch, arrange_undo) == []


def skip_the_seal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Seals, "hold", lambda self, action: True)


def act_while_preparing(patch: pytest.MonkeyPatch) -> None:
    prepare = runs.prepare

    async def act(services: Any, request: Any, preparation: Any, *more: Any) -> Any:
        reply = await prepare(services, request, preparation, *more)
        for each in reply.actions:
            workspace_id, action_id = request.principal.workspace_id, each.id
            action, _ = await services.store.read(partial(actions.find, workspace_id, action_id))
            ctx = Context(gate.ApprovedAction(gate._SEAL, action), 1)
            await services.connectors[action.effect.connector].perform(ctx, action.effect)
        return reply

    patch.setattr(runs, "prepare", act)


def send_other_bytes(patch: pytest.MonkeyPatch) -> None:
    def open_gate(action: Action) -> gate.ApprovedAction:
        other = msgspec.structs.replace(action.effect, body=f"{action.effect.body} And more.")
        return gate.ApprovedAction(gate._SEAL, msgspec.structs.replace(action, effect=other))

    patch.setattr(gate, "open_gate", open_gate)


def call_an_agent_a_person(patch: pytest.MonkeyPatch) -> None:
    def decider_for(call: Any) -> Decider:
        return Decider(call.caller.workspace_id, call.caller.name, Assurance.PERSON, "chat")

    patch.setattr(approvals, "decider_for", decider_for)


def skip_the_guard(patch: pytest.MonkeyPatch) -> None:
    left = tuple(each for each in guards.GUARDS if each is not guards.is_approved)
    patch.setattr(guards, "GUARDS", left)
    patch.setattr(execution, "path", lambda action, move: ((move, EXECUTING),))
    patch.setattr(gate, "open_gate", lambda action: gate.ApprovedAction(gate._SEAL, action))


def forget_what_was_seen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SeenVersion, "matches", lambda self, action: True)


def keep_what_is_withdrawn(patch: pytest.MonkeyPatch) -> None:
    def withdraw(decider: Decider, action_id: ActionId, reason: str, now_ms: int) -> Any:
        action, *_ = yield from actions.lock(decider.workspace_id, action_id)
        return action

    patch.setattr(decisions, "withdraw", withdraw)


def send_beside_the_connectors(patch: pytest.MonkeyPatch) -> None:
    edit = use_cases.edit

    async def tell(*given: Any, **more: Any) -> Any:
        done = await edit(*given, **more)
        with socket.socket() as made, suppress(OSError):
            made.settimeout(0.1)
            made.connect(("127.0.0.1", 9))
        return done

    patch.setattr(use_cases, "edit", tell)


BROKEN: tuple[Callable[[pytest.MonkeyPatch], None], ...] = (
    skip_the_seal,
    skip_the_guard,
    act_while_preparing,
    send_other_bytes,
    call_an_agent_a_person,
    forget_what_was_seen,
    keep_what_is_withdrawn,
    send_beside_the_connectors,
)


@pytest.mark.parametrize(("transport", "database"), [("stdio", "sqlite")])
@pytest.mark.parametrize("break_it", BROKEN, ids=lambda each: each.__name__)
async def test_a_build_in_which_a_path_skips_the_sentence_is_caught(
    surface: Gate, break_it: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_it(monkeypatch)
    assert await sweep(surface, monkeypatch)


def inherit_the_approval(patch: pytest.MonkeyPatch, seals: Seals) -> None:
    stage = undo.stage

    def approved(decider: Decider, built: Any, now_ms: int) -> Any:
        reverse = yield from stage(decider, built, now_ms)
        first, policy = yield from actions.find(reverse.workspace_id, reverse.metadata[UNDO_OF])
        assert first.approval is not None
        observed = gate.read_observation(reverse)
        approval = msgspec.structs.replace(first.approval, digest=reverse.digest, observed=observed)
        marked = msgspec.structs.replace(reverse, status=Status.APPROVED)
        sealed = seals.seal(marked, approval, policy)
        return (yield from actions.put_without_event(sealed))

    patch.setattr(undo, "stage", approved)


@pytest.mark.parametrize(("transport", "database"), [("stdio", "sqlite")])
async def test_a_build_in_which_an_undo_inherits_its_approval_is_caught(
    billing: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    inherit_the_approval(monkeypatch, billing.app.keys.seals)
    assert await sweep(billing, monkeypatch, arrange_undo)


WAYS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a server that no one trusts": ({}, set()),
    "read-only hints of a trusted server": ({"trust": True}, {"look", "question"}),
    "a rule": ({"rules": '[notes.tools.store]\nmode = "pass"\n'}, {"store"}),
    "--observe": ({"observe": True}, {"look", "store", "remove", "question"}),
}
"""How a server is wrapped, and which of its tools pass then."""


async def sweep_wrapped(wrapped: Wrapped) -> list[str]:
    """Call every tool of a wrapped server in every way, then approve what waits. Returns the calls that reached it
    against the sentence."""
    breaches = []
    for way, (order, passing) in WAYS.items():
        client = await wrapped.open(**order)
        await client.handshake()
        for tool in sorted({"look", "store", "remove", "question"} & set(await client.names())):
            await client.call(tool, path=way, content="new")
        await client.close()
        called = {
            each["tool"] for each in wrapped.ledger_entries if each.get("arguments", {}).get("path") == way
        }
        breaches += [f"{way}: {tool}" for tool in sorted(called - passing)]
    before = len(wrapped.ledger_entries)
    waiting = await wrapped.waiting()
    for each in waiting:
        await wrapped.approve(each["id"])
    later = [each["arguments"] for each in wrapped.ledger_entries[before:] if "tool" in each]
    approved = [(await wrapped.stored(each["id"])).effect.arguments for each in waiting]
    assert approved or breaches, "a sweep in which nothing is asked proves nothing"
    return breaches + [f"{each}: made and not approved" for each in later if each not in approved]


async def test_a_wrapped_call_is_approved_or_passes_for_a_reason_of_the_list(wrapped: Wrapped) -> None:
    assert await sweep_wrapped(wrapped) == []


@pytest.mark.parametrize("database", ["sqlite"])
async def test_a_build_in_which_a_wrapped_call_skips_the_sentence_is_caught(
    wrapped: Wrapped, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "choose_mode", lambda *given, **more: "pass")
    assert await sweep_wrapped(wrapped)
