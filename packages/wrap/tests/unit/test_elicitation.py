"""Questions of a wrapped server: which pass, what is put before them, and whose state is taken back."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace
from tests.support.surfaces import ManualClock

from assent.engine.core.tenancy import Principal
from assent.kernel.ids import KeyId, WorkspaceId
from assent.kernel.tokens import KeyRing
from assent.serving.gateway import ClientPort, ForeignCall
from assent_wrap import elicitation
from assent_wrap.elicitation import (
    CREATE,
    INPUT_REQUIRED,
    MAX_QUESTION_CHARS,
    introduce,
    open_state,
    seal_result,
)
from assent_wrap.listing import OfferedTool
from assent_wrap.profiles import UpstreamSpec
from assent_wrap.transports import RpcError
from assent_wrap.upstreams import Upstream

RING = KeyRing((bytes(range(32)),))
TOOL = OfferedTool(
    name="store", server="notes", tool="store", mode="pass", rule=None, definition={}, pin="sha256:1"
)
ASKS: dict[str, Any] = {"elicitation": {"form": {}}}


def caller(key: str = "key_1") -> Principal:
    return Principal(WorkspaceId("ws_1"), "Acme", KeyId(key), "live", frozenset())


def call(key: str = "key_1", profile: str = "p1", capabilities: dict[str, Any] | None = ASKS) -> ForeignCall:
    return ForeignCall(caller(key), profile, 0, client=ClientPort(capabilities=capabilities))


def question(**changes: Any) -> dict[str, Any]:
    return {"method": CREATE, "params": {"message": "Which folder?", **changes}}


def server(*, modern: bool) -> Upstream:
    found = Upstream(UpstreamSpec(name="notes", command=("notes",)), {}, ManualClock(), tuple)
    found.modern = modern
    return found


async def ask(params: dict[str, Any], seconds: float) -> dict[str, Any]:
    return {"asked": params, "seconds": seconds}


@pytest.mark.parametrize(
    ("modern", "client", "passes"),
    [
        (False, ClientPort(ask=ask), True),
        (True, ClientPort(ask=ask), False),
        (False, ClientPort(), False),
        (False, ClientPort(ask=ask, capabilities={}), False),
    ],
)
async def test_a_legacy_question_passes_from_a_legacy_server_to_a_legacy_client(
    modern: bool, client: ClientPort, passes: bool
) -> None:
    forward = elicitation.forward_input(dataclasses.replace(call(), client=client), server(modern=modern))
    assert (forward is not None) is passes
    if forward is not None:
        answer = await forward({"message": "Which folder?"}, 3.0)
        assert answer == {"asked": {"message": "The server notes asks: Which folder?"}, "seconds": 3.0}


@pytest.mark.parametrize(
    ("asked", "modes"),
    [
        (question(), {}),
        (question(mode="form"), {"form": {}}),
        (question(mode="url", url="https://notes.example"), {"url": {}}),
        (question(mode="url", url="http://notes.example"), {"url": {}}),
    ],
)
def test_a_question_that_the_client_can_show_names_its_server(
    asked: dict[str, Any], modes: dict[str, Any]
) -> None:
    assert introduce("notes", asked, modes) == {
        **asked["params"],
        "message": "The server notes asks: Which folder?",
    }


@pytest.mark.parametrize(
    ("asked", "modes"),
    [
        ("what?", {}),
        ({"method": "sampling/createMessage", "params": {"message": "Which folder?"}}, {}),
        ({"method": CREATE, "params": "Which folder?"}, {}),
        (question(message=7), {}),
        (question(mode="url"), {}),
        (question(mode="url"), {"form": {}}),
        (question(), {"url": {}}),
        (question(url="javascript:alert(1)"), {}),
        (question(message="Assent asks for your key"), {}),
        (question(requestedSchema={"properties": {"a": {"title": "Assent"}}}), {}),
        (question(message="x" * MAX_QUESTION_CHARS), {}),
    ],
)
def test_a_question_that_no_person_can_judge_does_not_pass(asked: Any, modes: dict[str, Any]) -> None:
    with pytest.raises(RpcError) as refused:
        introduce("notes", asked, modes)
    assert refused.value.code == elicitation.INVALID_PARAMS


def test_a_question_is_passed_on_up_to_its_most_characters() -> None:
    room = MAX_QUESTION_CHARS - len('["notes",{"message":""}]')
    assert introduce("notes", question(message="x" * room), {})
    with pytest.raises(RpcError):
        introduce("notes", question(message="x" * (room + 1)), {})


def test_each_field_of_a_form_names_the_server_and_what_is_no_field_is_left_out() -> None:
    form = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"title": "Name"}, "c": 7}}
    assert introduce("notes", question(requestedSchema=form), {})["requestedSchema"] == {
        "type": "object",
        "properties": {"a": {"type": "string", "title": "notes: a"}, "b": {"title": "notes: Name"}},
    }


@pytest.mark.parametrize("form", ["a", {}, {"properties": []}])
def test_a_form_without_fields_stays_as_it_is(form: Any) -> None:
    assert introduce("notes", question(requestedSchema=form), {})["requestedSchema"] == form


@pytest.mark.parametrize(
    ("modern", "capabilities", "declared"),
    [
        (True, {**ASKS, "sampling": {}}, ASKS),
        (True, {"sampling": {}}, {}),
        (True, None, {}),
        (False, ASKS, {}),
    ],
)
def test_a_modern_server_is_told_only_that_its_client_can_ask(
    modern: bool, capabilities: dict[str, Any] | None, declared: dict[str, Any]
) -> None:
    client = ClientPort(capabilities=capabilities)
    assert (
        elicitation.list_capabilities(dataclasses.replace(call(), client=client), server(modern=modern))
        == declared
    )


def ask_for_input(**changes: Any) -> dict[str, Any]:
    return {
        "resultType": INPUT_REQUIRED,
        "inputRequests": {"one": question()},
        "requestState": "s1",
        **changes,
    }


PARAMS = {"name": "store", "arguments": {"path": "a"}}


def test_the_state_of_a_server_comes_back_to_the_same_call_of_the_same_caller() -> None:
    sealed = seal_result(RING.sign, call(), TOOL, PARAMS, ask_for_input())
    assert sealed["inputRequests"]["one"]["params"]["message"] == "The server notes asks: Which folder?"
    assert sealed["requestState"] != "s1"
    again = {**PARAMS, "requestState": sealed["requestState"]}
    assert open_state(RING.verify, call(), TOOL, again) == {**PARAMS, "requestState": "s1"}
    assert open_state(RING.verify, call(), TOOL, PARAMS) == PARAMS


@pytest.mark.parametrize(
    ("other_call", "other_tool", "changes"),
    [
        (call(key="key_2"), TOOL, {}),
        (call(profile="p2"), TOOL, {}),
        (call(), replace(TOOL, tool="remove"), {}),
        (call(), replace(TOOL, server="files"), {}),
        (call(), replace(TOOL, pin="sha256:2"), {}),
        (call(), TOOL, {"arguments": {"path": "b"}}),
        (call(), TOOL, {"requestState": "s1"}),
        (call(), TOOL, {"requestState": RING.sign(b"{}")}),
        (call(), TOOL, {"requestState": ""}),
    ],
)
def test_a_state_of_anything_else_is_refused(
    other_call: ForeignCall, other_tool: OfferedTool, changes: dict[str, Any]
) -> None:
    sealed = seal_result(RING.sign, call(), TOOL, PARAMS, ask_for_input())
    with pytest.raises(ValueError, match="does not belong"):
        open_state(
            RING.verify, other_call, other_tool, {**PARAMS, "requestState": sealed["requestState"], **changes}
        )


def test_a_result_that_asks_nothing_passes_as_it_is() -> None:
    result = {"content": [], "requestState": "s1"}
    assert seal_result(RING.sign, call(capabilities=None), TOOL, PARAMS, result) is result


@pytest.mark.parametrize("capabilities", [None, {}, {"sampling": {}}])
def test_a_client_that_cannot_ask_gets_no_question(capabilities: dict[str, Any] | None) -> None:
    sealed = seal_result(RING.sign, call(capabilities=capabilities), TOOL, PARAMS, ask_for_input())
    assert sealed["isError"] is True
    assert "inputRequests" not in sealed


def test_a_question_that_does_not_pass_ends_the_call() -> None:
    asked = ask_for_input(inputRequests={"one": question(message="Assent asks")})
    assert seal_result(RING.sign, call(), TOOL, PARAMS, asked)["isError"] is True


@pytest.mark.parametrize(
    ("changes", "kept"),
    [({"inputRequests": 7}, {"inputRequests": 7}), ({"requestState": 7}, {"requestState": 7})],
)
def test_what_is_no_question_and_no_state_stays_as_it_is(
    changes: dict[str, Any], kept: dict[str, Any]
) -> None:
    sealed = seal_result(RING.sign, call(), TOOL, PARAMS, ask_for_input(**changes))
    assert kept.items() <= sealed.items()
