"""The gateway of wrapped servers: its pace, what it remembers and for how long, and the files it reads and writes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.scripted import ScriptedRow, ScriptedStore
from tests.support.surfaces import ManualClock

from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.ports import Transaction
from assent.serving.gateway import ForeignCall
from assent_wrap import gateway as gateway_module
from assent_wrap import repository
from assent_wrap.extension import EXTENSION, read_settings_files
from assent_wrap.gateway import (
    ASK_MS,
    CALLS,
    MAX_CALLERS,
    PINS_SECONDS,
    WINDOW_SECONDS,
    ArrangedTools,
    CallPace,
    Gateway,
    read_files,
    write_place,
    write_proposed_rules,
)
from assent_wrap.listing import OfferedTool, compute_pin
from assent_wrap.profiles import BadProfile, Mode, Profile, ServerRules, ToolRule, UpstreamSpec
from assent_wrap.rules import Observed, propose_rules
from assent_wrap.transports import Unsent
from assent_wrap.upstreams import Upstream

WORKSPACE = LOCAL_PRINCIPAL.workspace_id
PIN = ScriptedRow(server="notes", tool="look", pin="sha256:1", hinted=1)


class EmptyVault:
    def open(self, *_: Any) -> Transaction[dict[str, str]]:
        yield from ()
        return {}


def serve(store: ScriptedStore, clock: ManualClock | None = None) -> Gateway:
    services = SimpleNamespace(store=store, clock=clock or ManualClock(), vault=EmptyVault())
    return Gateway(cast(Any, services), {})


def offer(tool: str, mode: Mode = "gate", **more: Any) -> OfferedTool:
    definition = {"name": tool, "inputSchema": {}}
    made = {"name": tool, "server": "notes", "rule": None, "definition": definition, "pin": "sha256:1"}
    return OfferedTool(tool=tool, mode=mode, **{**made, **more})


def test_a_caller_has_its_calls_in_each_window_and_another_one_has_its_own() -> None:
    now = 100.0
    pace = CallPace(lambda: now)

    assert [pace.may_call("a") for _ in range(CALLS + 1)] == [True] * CALLS + [False]
    assert pace.may_call("b")
    now += WINDOW_SECONDS - 0.5
    assert not pace.may_call("a")
    now += 0.5
    assert [pace.may_call("a") for _ in range(CALLS + 1)] == [True] * CALLS + [False]


def test_so_many_callers_that_they_fill_the_memory_begin_a_window() -> None:
    pace = CallPace(lambda: 0.0)
    for _ in range(CALLS):
        pace.may_call("a")
    for number in range(MAX_CALLERS - 1):
        pace.may_call(f"other {number}")

    assert not pace.may_call("a")
    pace.may_call("one more")
    assert pace.may_call("a")


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        (UpstreamSpec(name="n", command=("x",), cwd="/srv", written=("x", "a b")), ("x 'a b'", "/srv")),
        (UpstreamSpec(name="n", url="https://x/", cwd="/srv", written=("https://x/",)), ("https://x/", "")),
    ],
)
def test_a_server_is_shown_by_its_command_and_folder_or_by_its_address(
    spec: UpstreamSpec, place: tuple[str, str]
) -> None:
    assert write_place(spec) == place


def test_proposed_rules_are_written_again_by_a_later_call(tmp_path: Path) -> None:
    offered, observed = [offer("store")], [Observed("store", "", "", 2)]
    for _ in range(2):
        write_proposed_rules(tmp_path / "a" / "b", "notes", offered, observed, 0)

    (written,) = (tmp_path / "a" / "b").iterdir()
    assert written.name == "notes.toml"
    assert written.read_text() == propose_rules("notes", offered, observed, 0)


CONFIG = '{"mcpServers": {"notes": {"command": "notes"}}}'


def test_the_files_of_the_settings_are_a_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "secret")
    config, rules = tmp_path / "mcp.json", tmp_path / "rules.toml"
    config.write_text(CONFIG)
    rules.write_text("[notes]\ntrusted = true\n")

    alone, ruled = read_files(config, None), read_files(config, rules)
    assert [(each.name, each.cwd) for each in alone.servers] == [("notes", str(Path.cwd()))]
    assert not alone.rules_for("notes").trusted and ruled.rules_for("notes").trusted
    assert "PATH" in alone.passed and "A_TOKEN" not in alone.passed


@pytest.mark.parametrize("text", [None, b"\xff", b"{", b'{"mcpServers": {"notes": {}}}'])
def test_files_of_the_settings_that_cannot_be_used_are_refused_by_their_name(
    text: bytes | None, tmp_path: Path
) -> None:
    config = tmp_path / "mcp.json"
    if text is not None:
        config.write_bytes(text)

    with pytest.raises(BadProfile, match=r"mcp\.json"):
        read_files(config, None)
    with pytest.raises(ValueError, match=r"mcp\.json"):
        read_settings_files({"wrap_config": config, "wrap_rules": None})


def test_the_doctor_says_which_file_cannot_be_used_and_what_to_do(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    settings = {"wrap_config": config, "wrap_rules": None}
    [wrong] = EXTENSION.check(settings)
    assert (wrong.ok, wrong.fix) == (False, "Correct the file, or leave wrap_config out.")
    assert str(config) in wrong.detail
    config.write_text('{"mcpServers": {"files": {"command": "/bin/true"}}}')
    [right] = EXTENSION.check(settings)
    assert (right.ok, right.detail) == (True, str(config))


def test_settings_without_a_file_are_right() -> None:
    read_settings_files({"wrap_config": None})
    assert list(EXTENSION.check({"wrap_config": None})) == []


def test_tools_are_arranged_again_for_other_definitions_servers_or_acceptances() -> None:
    look, store = ({"name": "look"},), ({"name": "store"},)
    pins = {("notes", "look"): ("sha256:1", True)}
    offered = (offer("look"), offer("drop", "hide"), offer("new", held=True))
    arranged = ArrangedTools({"notes": look, "files": store}, pins, offered)

    assert [each["name"] for each in arranged.listing] == ["look"]
    assert arranged.by_name.keys() == {"look", "drop", "new"}
    assert arranged.is_of({"notes": look, "files": store}, pins)
    assert not arranged.is_of({"notes": look, "files": ({"name": "store"},)}, pins)
    assert not arranged.is_of({"notes": look}, pins)
    assert not arranged.is_of({"notes": look, "files": store, "more": ()}, pins)
    assert not arranged.is_of(
        {"notes": look, "files": store}, {**pins, ("notes", "store"): ("sha256:2", False)}
    )


async def test_a_profile_that_is_not_kept_is_not_known() -> None:
    call = ForeignCall(LOCAL_PRINCIPAL, "gone", 0)
    with pytest.raises(LookupError):
        await serve(ScriptedStore())._profile(call)


async def test_the_settings_give_a_profile_to_the_named_workspaces_alone() -> None:
    for settings in (
        {},
        {"wrap_workspaces": (WORKSPACE,)},
        {"wrap_config": "mcp.json", "wrap_workspaces": ()},
    ):
        gateway = Gateway(cast(Any, SimpleNamespace(clock=None)), settings)
        assert await gateway.find_profile(WORKSPACE) is None


async def test_acceptances_are_read_once_a_second_and_are_the_same_object_while_they_are_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 50.0
    monkeypatch.setattr(gateway_module, "time", SimpleNamespace(monotonic=lambda: now))
    rows = [PIN]
    store = ScriptedStore(**{"wrap.list_wrap_pins": rows})
    gateway = serve(store)

    first = await gateway._find_pins(WORKSPACE)
    assert first == {("notes", "look"): ("sha256:1", True)}
    now += PINS_SECONDS / 2
    assert await gateway._find_pins(WORKSPACE) is first and len(store.names) == 1
    now += PINS_SECONDS / 2
    assert await gateway._find_pins(WORKSPACE) is first and len(store.names) == 2
    rows.append(ScriptedRow(server="notes", tool="store", pin="sha256:2", hinted=0))
    now += PINS_SECONDS
    assert (await gateway._find_pins(WORKSPACE))[("notes", "store")] == ("sha256:2", False)


async def test_a_failed_start_is_written_when_it_changes_and_then_once_an_hour_and_a_start_once() -> None:
    clock, store = ManualClock(), ScriptedStore(set_deployment_fact=[])
    gateway = serve(store, clock)

    async def count(why: str, server: str = "notes") -> int:
        before = len(store.names)
        await gateway._note_start(WORKSPACE, server, why)
        return len(store.names) - before

    assert (await count(""), await count("")) == (1, 0)
    assert (await count("no such file"), await count("no such file")) == (1, 0)
    assert await count("no such file", "files") == 1
    assert await count("no right to run it") == 1
    clock.advance(hours=1)
    assert await count("no right to run it") == 0
    clock.advance(seconds=0.001)
    assert (await count("no right to run it"), await count("no right to run it")) == (1, 0)
    assert await count("") == 1
    clock.advance(hours=2)
    assert await count("") == 0


async def test_a_person_is_asked_about_a_servers_tools_at_most_every_five_minutes() -> None:
    clock = ManualClock()
    gateway, call = serve(ScriptedStore(), clock), ForeignCall(LOCAL_PRINCIPAL, "p", 0)
    gateway._asked_ms[(WORKSPACE, "notes")] = clock.now_ms()

    assert not await gateway._ask_to_accept(call, Profile(servers=()), "notes", [offer("look")])
    clock.advance(seconds=ASK_MS / 1000 - 0.001)
    assert not await gateway._ask_to_accept(call, Profile(servers=()), "notes", [offer("look")])
    clock.advance(seconds=0.001)
    with pytest.raises(KeyError, match="list_wrap_profiles"):  # it goes on to ask
        await gateway._ask_to_accept(call, Profile(servers=()), "notes", [offer("look")])


class Listing(Upstream):
    """A server with these tools."""

    def __init__(self, name: str, *tools: str) -> None:
        super().__init__(UpstreamSpec(name=name, command=(name,)), {}, ManualClock(), tuple)
        self._offered = tuple({"name": each, "inputSchema": {}} for each in tools)

    async def list_tools(self) -> tuple[dict[str, Any], ...]:
        return self._offered


class Asking(Gateway):
    """A gateway for these servers. It notes what would be asked and accepted."""

    def __init__(self, servers: list[Listing], *pins: ScriptedRow) -> None:
        rows = {"wrap.list_wrap_pins": pins, "set_deployment_fact": []}
        services = SimpleNamespace(store=ScriptedStore(**rows), clock=ManualClock())
        super().__init__(cast(Any, services), {})
        self.upstreams._open.update({("p", each.spec.name): each for each in servers})
        self.asked: list[tuple[str, list[str]]] = []
        self.may_ask = True

    async def _ask_to_accept(
        self, call: ForeignCall, profile: Profile, server: str, held: list[OfferedTool]
    ) -> bool:
        self.asked.append((server, [each.tool for each in held]))
        return self.may_ask


@pytest.mark.parametrize("may_ask", [True, False])
async def test_first_tools_of_a_server_are_accepted_and_later_ones_are_asked_about_unless_they_are_hidden(
    may_ask: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted: list[tuple[str, str]] = []

    async def accept_first(_: Any, __: Any, offered: list[OfferedTool]) -> None:
        accepted.extend((each.server, each.tool) for each in offered)

    monkeypatch.setattr(repository, "accept_first", accept_first)
    servers = [Listing("notes", "look", "store", "drop"), Listing("files", "read"), Listing("empty")]
    known = [
        ScriptedRow(server="notes", tool="look", pin=compute_pin(servers[0]._offered[0]), hinted=0),
        ScriptedRow(server="empty", tool="gone", pin="sha256:1", hinted=0),
    ]
    hidden = ServerRules(tools=(ToolRule(match="drop", mode="hide"),))
    profile = Profile(servers=tuple(each.spec for each in servers), rules={"notes": hidden})
    gateway, call = Asking(servers, *known), ForeignCall(LOCAL_PRINCIPAL, "p", 0)
    gateway._profiles[(WORKSPACE, "p")] = profile
    gateway.may_ask = may_ask

    first = await gateway._find_tools(call)
    assert accepted == [("files", "read")] and gateway.asked == [("notes", ["store"])]
    assert [each["name"] for each in first.listing] == ["look"]
    # Where a person could not be asked yet, the next list tries again.
    assert (await gateway._find_tools(call) is first) is may_ask
    assert len(gateway.asked) == (1 if may_ask else 2)


class Broken(Listing):
    async def list_tools(self) -> tuple[dict[str, Any], ...]:
        raise Unsent("files does not start")


async def test_a_server_that_fails_keeps_no_other_servers_tool_from_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    servers = [Listing("notes", "look"), Broken("files")]
    pin = ScriptedRow(server="notes", tool="look", pin=compute_pin(servers[0]._offered[0]), hinted=0)
    gateway, call = Asking(servers, pin), ForeignCall(LOCAL_PRINCIPAL, "p", 0)
    passed = ServerRules(tools=(ToolRule(match="look", mode="pass"),))
    profile = Profile(servers=tuple(each.spec for each in servers), rules={"notes": passed})
    gateway._profiles[(WORKSPACE, "p")] = profile

    def answer(found: Any) -> Any:
        async def give(*_: Any) -> Any:
            return found

        return give

    monkeypatch.setattr(gateway, "_find_rules", answer(()))
    monkeypatch.setattr(gateway, "_pass", answer({"content": []}))
    monkeypatch.setattr(gateway._services, "find_freeze", answer(None), raising=False)

    assert await gateway.call_tool(call, {"name": "look"}) == {"content": []}
    missing = await gateway.call_tool(call, {"name": "read"})
    assert missing is not None and "files does not start" in str(missing)
