"""One request that may have an effect: whether it can have arrived is known afterwards."""

from __future__ import annotations

import ssl

import pytest
from tests.support.net.stub_server import Answer, StubServer, closed_port, redirect

from assent.net.addresses import CheckedTarget, FetchRefused, check
from assent.net.outgoing import NOTHING_SENT, Posted, send_json

HERE = ["127.0.0.1"]


async def send(target: CheckedTarget, seconds: float = 5.0) -> Posted:
    return await send_json(
        "PUT", target, b"{}", headers={"x-key": "1"}, timeout_seconds=seconds, max_bytes=100
    )


async def test_method_headers_and_body_arrive_and_the_answer_is_bounded(stub: StubServer) -> None:
    stub.answers["/"] = Answer(status=201, body=b"x" * 1000)
    answer = await send(await check(stub.url(), allow_hosts=HERE))
    assert (answer.status, len(answer.body)) == (201, 100)
    [asked] = stub.asked
    assert (asked.method, asked.body, asked.headers["x-key"]) == ("PUT", b"{}", "1")


async def test_certificates_are_not_loaded_for_every_request(
    stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading them holds the event loop for longer than a whole approval takes."""
    loaded: list[str] = []
    load = ssl.SSLContext.load_verify_locations

    def count(context: ssl.SSLContext, *given: str, **named: str) -> None:
        loaded.append("certificates")
        load(context, *given, **named)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", count)
    target = await check(stub.url(), allow_hosts=HERE)
    for _ in range(3):
        await send(target)
    assert len(loaded) <= 1 and len(stub.asked) == 3


async def test_a_redirect_is_an_answer_and_is_not_followed(stub: StubServer) -> None:
    stub.answers["/"] = redirect("/other")
    assert (await send(await check(stub.url(), allow_hosts=HERE))).status in (301, 302, 303, 307, 308)
    assert [asked.path for asked in stub.asked] == ["/"]


async def test_without_a_connection_nothing_can_have_arrived() -> None:
    target = await check(f"http://127.0.0.1:{closed_port()}/", allow_hosts=HERE)
    with pytest.raises(FetchRefused) as refused:
        await send(target)
    assert refused.value.why in NOTHING_SENT


async def test_without_an_answer_the_request_may_have_arrived(stub: StubServer) -> None:
    stub.answers["/"] = Answer(stall=True)
    target = await check(stub.url(), allow_hosts=HERE)
    with pytest.raises(FetchRefused) as refused:
        await send(target, 0.3)
    assert refused.value.why == "timeout"
    assert refused.value.why not in NOTHING_SENT
    assert len(stub.asked) == 1
