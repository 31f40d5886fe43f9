"""The connector of approved calls: which tool may be called to read, what is read with it, and what is known of a
call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.scripted import ScriptedRow, ScriptedStore
from tests.support.surfaces import ManualClock

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.outcomes import Delivered, NotSent, OutcomeUnknown
from assent.gate.records import Effect
from assent.ports import Transaction
from assent_wrap import connector as connector_module
from assent_wrap.connector import BEFORE_CHARS, AcceptConnector, CallConnector, _read_present
from assent_wrap.effects import (
    ACCEPT,
    CALL,
    CONNECTORS,
    AcceptDetails,
    CallDetails,
    ToolOffer,
    make_acceptance,
    make_call,
    write_definition,
)
from assent_wrap.listing import compute_pin
from assent_wrap.profiles import DiffTemplate, Mode, Profile, ServerRules, ToolRule, UpstreamSpec
from assent_wrap.repository import FIELD, identify
from assent_wrap.rules import StandingRule, WorkspaceRule
from assent_wrap.transports import RpcError, Unanswered, Unsent
from assent_wrap.upstreams import Upstream, Upstreams

INFO = next(each for each in CONNECTORS if each.id == CALL)
LOOK: dict[str, Any] = {"name": "look", "inputSchema": {}, "annotations": {"readOnlyHint": True}}
STORE: dict[str, Any] = {"name": "store", "inputSchema": {}}
TRUSTED = ServerRules(trusted=True)
PASSED = ServerRules(tools=(ToolRule(match="look", mode="pass"),))


class Answering(Upstream):
    """A server with these tools, which answers each call with the same result. Without tools it does not start."""

    def __init__(self, result: dict[str, Any] | Exception, *tools: dict[str, Any]) -> None:
        super().__init__(UpstreamSpec(name="notes", command=("notes",)), {}, ManualClock(), tuple)
        self._result = result
        self._offered = tools
        self.asked: list[dict[str, Any]] = []

    async def list_tools(self) -> tuple[dict[str, Any], ...]:
        if not self._offered:
            raise Unsent("it does not start")
        return self._offered

    async def request(self, method: str, params: Any, *_: Any, **__: Any) -> dict[str, Any]:
        self.asked.append(params)
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


@pytest.mark.parametrize(
    ("rules", "tool", "accepted", "hinted", "may", "frozen"),
    [
        (TRUSTED, LOOK, LOOK, True, True, True),
        (TRUSTED, LOOK, LOOK, False, False, False),
        (TRUSTED, LOOK, STORE, True, False, False),
        (TRUSTED, LOOK, None, True, False, False),
        (TRUSTED, STORE, STORE, True, False, False),
        (ServerRules(), LOOK, LOOK, True, False, False),
        (PASSED, LOOK, LOOK, True, True, False),
    ],
    ids=["trusted", "a later hint", "changed", "not accepted", "another tool", "not trusted", "by a rule"],
)
async def test_a_tool_reads_what_a_call_replaces_if_an_agent_may_call_it_without_asking(
    rules: ServerRules,
    tool: dict[str, Any],
    accepted: dict[str, Any] | None,
    hinted: bool,
    may: bool,
    frozen: bool,
) -> None:
    pin = compute_pin(accepted) if accepted is not None else ""
    rows = [ScriptedRow(server="notes", tool="look", pin=pin, hinted=hinted)] if accepted is not None else []
    services = SimpleNamespace(
        store=ScriptedStore(**{"wrap.list_wrap_pins": rows, "wrap.list_wrap_rules": []})
    )
    connector = CallConnector(cast(Any, services), cast(Any, None), cast(Any, None), INFO)
    server = Answering({}, tool)

    found = [
        await connector._may_read(LOCAL_WORKSPACE, server, rules, "look", frozen=stopped)
        for stopped in (False, True)
    ]
    assert found == [may, frozen]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"text": "a"}, "?", {"type": "image"}, {"text": "b\0"}]}, "ab\ufffd"),
        ({"content": [{"text": "a"}], "isError": False}, "a"),
        ({"content": [{"text": "a"}], "isError": True}, ""),
        ({"content": "a"}, ""),
        ({}, ""),
        ({"content": [{"text": "x" * (BEFORE_CHARS + 1)}]}, "x" * BEFORE_CHARS),
        (RpcError(-32000, "no such file"), ""),
    ],
)
async def test_the_text_that_a_call_would_replace_is_what_its_reader_answers(
    result: dict[str, Any] | Exception, text: str
) -> None:
    server = Answering(result)
    template = DiffTemplate(tool="look", arguments={"path": "file"}, after="content")

    assert await _read_present(server, template, {"file": "a.txt", "content": "new"}) == text
    assert server.asked == [{"name": "look", "arguments": {"path": "a.txt"}}]


def stand(mode: Mode, server: str = "notes", tool: str = "look") -> StandingRule:
    return StandingRule(
        rule=WorkspaceRule(name="r", server=server, tools=(tool,), mode=mode, source={}),
        seal="",
        by="someone",
        at_ms=0,
    )


@pytest.mark.parametrize(
    ("standing", "may"),
    [
        ([stand("gate")], False),
        ([stand("hide")], False),
        ([stand("pass")], True),
        ([stand("gate", server="files")], True),
        ([stand("gate", tool="store")], True),
        ([stand("pass"), stand("gate")], False),
    ],
)
async def test_no_tool_reads_that_a_rule_of_the_workspace_asks_about_or_hides(
    standing: list[StandingRule], may: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def list_rules(*_: Any) -> list[StandingRule]:
        return standing

    monkeypatch.setattr(connector_module, "list_rules", list_rules)
    pins = [ScriptedRow(server="notes", tool="look", pin=compute_pin(LOOK), hinted=1)]
    services = SimpleNamespace(store=ScriptedStore(**{"wrap.list_wrap_pins": pins}))
    connector = CallConnector(cast(Any, services), cast(Any, None), cast(Any, None), INFO)

    server = Answering({}, STORE, LOOK)
    assert await connector._may_read(LOCAL_WORKSPACE, server, TRUSTED, "look", frozen=False) is may


OFFER = ToolOffer(name="look", pin=compute_pin(LOOK), after=write_definition(LOOK))
TRUSTING = Profile(servers=(UpstreamSpec(name="notes", command=("notes",)),), rules={"notes": PASSED})


@pytest.mark.parametrize(
    ("offer", "standing", "profiles", "accepted"),
    [
        (OFFER, [], [], True),
        (OFFER, [stand("pass")], [], False),
        (OFFER, [], [TRUSTING], False),
        # What it says of itself counts once it was accepted.
        (OFFER, [], [replace(TRUSTING, rules={"notes": TRUSTED})], True),
        (OFFER, [stand("pass")], [TRUSTING], False),
        (replace(OFFER, passes=True), [stand("pass")], [TRUSTING], True),
        (replace(OFFER, passes=True), [], [], True),
        (replace(OFFER, pin=compute_pin(STORE)), [], [], False),
    ],
)
async def test_a_definition_is_accepted_as_it_was_shown_and_by_the_rules_of_that_time(
    offer: ToolOffer,
    standing: list[StandingRule],
    profiles: list[Profile],
    accepted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[Any] = []

    def give(found: Any) -> Any:
        async def read(*_: Any) -> Any:
            return found

        return read

    class Store:
        write = staticmethod(give(None))

    monkeypatch.setattr(connector_module, "list_rules", give(standing))
    monkeypatch.setattr(connector_module, "list_profiles", give(profiles))
    monkeypatch.setattr(connector_module, "list_pins", give({}))
    monkeypatch.setattr(connector_module, "partial", lambda _, *given: written.append(given))
    services = SimpleNamespace(store=Store(), clock=ManualClock())
    connector = AcceptConnector(cast(Any, services), next(each for each in CONNECTORS if each.id == ACCEPT))
    effect = make_acceptance(AcceptDetails(server="notes", command="notes", folder="/srv", tools=(offer,)))
    ctx = cast(Any, SimpleNamespace(workspace_id=LOCAL_WORKSPACE))

    if not accepted:
        with pytest.raises(NotSent) as refused:
            await connector.perform(ctx, effect)
        assert (refused.value.curable, written) == (False, [])
        return
    assert await connector.perform(ctx, effect) == Delivered(effect.digest())
    assert [given[:3] for given in written] == [(LOCAL_WORKSPACE, "notes", (offer,))]


KEY = b"a key of wrapped servers"
KEPT = Profile(servers=(UpstreamSpec(name="notes", command=("notes",)),))


class KeptProfile:
    """A vault that holds one profile."""

    def __init__(self, text: str | None) -> None:
        self._text = text

    def open(self, *_: Any) -> Transaction[dict[str, str]]:
        yield from ()
        return {FIELD: self._text} if self._text is not None else {}


def connect(server: Answering, profile: Profile | None = KEPT) -> tuple[CallConnector, Effect]:
    """A connector with a server, and a call of its tool that was approved under a profile."""
    text = msgspec.json.encode(profile).decode() if profile is not None else None
    profile_id = identify(KEY, LOCAL_WORKSPACE, text or "")
    keys = SimpleNamespace(wrapped_servers=SimpleNamespace(keys=(b"a newer one", KEY)))
    services = SimpleNamespace(store=ScriptedStore(), vault=KeptProfile(text), keys=keys)
    upstreams = Upstreams(ManualClock())
    upstreams._open[(profile_id, "notes")] = server
    connector = CallConnector(cast(Any, services), upstreams, cast(Any, None), INFO)
    details = CallDetails(profile=profile_id, server="notes", tool="store", pin=compute_pin(STORE))
    return connector, make_call(details, {"path": "a"}, repeat=False)


@pytest.mark.parametrize("profile", [None, Profile(servers=(UpstreamSpec(name="files", command=("x",)),))])
async def test_a_call_whose_server_is_not_known_any_more_is_not_made(profile: Profile | None) -> None:
    server = Answering({}, STORE)
    connector, effect = connect(server, profile)

    assert await connector._find_server(LOCAL_WORKSPACE, effect) is None
    assert await connector.addressed(LOCAL_WORKSPACE, effect) is effect
    with pytest.raises(NotSent) as refused:
        await connector.perform(cast(Any, SimpleNamespace(workspace_id=LOCAL_WORKSPACE)), effect)
    assert not refused.value.curable and server.asked == []


class Sending:
    """The context of one attempt, which notes whether it may have sent something."""

    workspace_id = LOCAL_WORKSPACE
    key = "k"

    def __init__(self) -> None:
        self.forgot = False

    def left(self) -> float:
        return 1.0

    async def begin_sending(self) -> None: ...

    def forget_sending(self) -> None:
        self.forgot = True


@pytest.mark.parametrize(
    ("result", "tools", "curable", "forgot"),
    [
        (Unsent("it has stopped"), [STORE], True, True),
        ({}, [], True, False),
        (RpcError(-32602, "no such argument"), [STORE], False, False),
        ({"resultType": "input_required"}, [STORE], False, False),
        ({}, [{**STORE, "description": "Another one."}], False, False),
        ({}, [LOOK], False, False),
        (RpcError(-32000, "broken"), [STORE], None, False),
        (RpcError(-32603, "failed within"), [STORE], None, False),
        (Unanswered("it did not answer"), [STORE], None, False),
    ],
    ids=[
        "not sent",
        "not started",
        "refused",
        "asks",
        "changed",
        "gone",
        "an error of its own",
        "an internal error",
        "no answer",
    ],
)
async def test_only_what_a_server_cannot_have_done_counts_as_not_made(
    result: dict[str, Any] | Exception, tools: list[dict[str, Any]], curable: bool | None, forgot: bool
) -> None:
    ctx, (connector, effect) = Sending(), connect(Answering(result, *tools))

    with pytest.raises(OutcomeUnknown if curable is None else NotSent) as ended:
        await connector.perform(cast(Any, ctx), effect)
    assert getattr(ended.value, "curable", None) is curable and ctx.forgot is forgot


async def test_an_approved_call_is_made_with_exactly_its_arguments_and_its_result_is_kept() -> None:
    server = Answering({"content": [], "isError": True}, LOOK, STORE)
    connector, effect = connect(server)

    made = await connector.perform(cast(Any, Sending()), effect)
    assert made == Delivered("notes:k", output={"content": [], "isError": True})
    assert server.asked == [{"name": "store", "arguments": {"path": "a"}}]
