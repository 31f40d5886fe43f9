"""Reading a page from a real server on loopback, which only an allowed host can be."""

from __future__ import annotations

import gzip
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.net.stub_server import (
    Answer,
    StubServer,
    certificate,
    closed_port,
    packed_bomb,
    redirect,
    stub_server,
)

from assent.net import addresses, outgoing
from assent.net.addresses import FetchRefused
from assent.net.outgoing import fetch_page, post_json

HERE = ["127.0.0.1"]


async def test_a_page_of_an_allowed_host_is_read(stub: StubServer) -> None:
    stub.answers["/"] = Answer(body="<title>Grüße</title>".encode())
    page = await fetch_page(stub.url(), allow_hosts=HERE)
    assert page.text == "<title>Grüße</title>"
    assert not page.truncated
    assert page.content_type == "text/html"


async def test_a_request_carries_neither_cookie_nor_credentials(stub: StubServer) -> None:
    stub.answers["/"] = Answer(status=302, headers={"Location": "/b", "Set-Cookie": "a=b"}, body=b"")
    await fetch_page(stub.url(), allow_hosts=HERE)
    assert [asked.path for asked in stub.asked] == ["/", "/b"]
    for asked in stub.asked:
        assert not {"cookie", "authorization", "referer"} & set(asked.headers)
        assert asked.headers["host"] == f"127.0.0.1:{stub.port}"


async def test_a_host_that_is_not_allowed_is_never_connected_to(stub: StubServer) -> None:
    for url in (stub.url(), f"https://127.0.0.1:{stub.port}/", f"https://localhost:{stub.port}/"):
        with pytest.raises(FetchRefused):
            await fetch_page(url)
    assert stub.asked == []


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("http://localhost:{port}/", "scheme"),
        ("https://localhost/", "address"),
        ("https://169.254.169.254/latest/meta-data/", "address"),
        ("https://[::1]/", "address"),
        ("https://2130706433/", "address"),
        ("//10.0.0.1/", "scheme"),
        ("file:///etc/passwd", "url"),
        ("https://a:b@127.0.0.1/", "url"),
        ("http://[", "url"),
    ],
)
async def test_a_redirect_is_checked_like_the_first_address(stub: StubServer, to: str, why: str) -> None:
    stub.answers["/"] = redirect(to.format(port=stub.port))
    with pytest.raises(FetchRefused) as refused:
        await fetch_page(stub.url(), allow_hosts=HERE)
    assert refused.value.why == why
    assert len(stub.asked) == 1


async def test_three_redirects_are_followed_and_not_a_fourth(stub: StubServer) -> None:
    for number in range(1, 5):
        stub.answers[f"/{number}"] = redirect(f"/{number + 1}")
    assert (await fetch_page(stub.url("/2"), allow_hosts=HERE)).url == stub.url("/5")
    with pytest.raises(FetchRefused) as refused:
        await fetch_page(stub.url("/1"), allow_hosts=HERE)
    assert refused.value.why == "redirects"


async def test_a_name_is_resolved_once_and_cannot_move_before_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebinding: the second answer of the resolver would be another address; it is never asked for."""
    server, client = certificate(tmp_path, "pinned.example")
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    asked: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return next(answers)

    with stub_server(server) as stub:
        url = f"https://pinned.example:{stub.port}/x"
        monkeypatch.setattr(addresses, "_resolve", resolve)
        monkeypatch.setattr(outgoing, "load_trust", lambda: client)
        page = await fetch_page(url, allow_hosts=["pinned.example"])
    assert page.text
    assert asked == ["pinned.example"]
    assert stub.asked[0].headers["host"] == f"pinned.example:{stub.port}"


async def test_a_name_that_turns_private_on_a_later_hop_is_refused(
    stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answers["/"] = redirect("https://rebound.example/")
    found = {"127.0.0.1": ["127.0.0.1"], "rebound.example": ["127.0.0.1"]}

    async def resolve(host: str, port: int) -> Sequence[str]:
        return found[host]

    monkeypatch.setattr(addresses, "_resolve", resolve)
    with pytest.raises(FetchRefused) as refused:
        await fetch_page(stub.url(), allow_hosts=HERE)
    assert refused.value.why == "address"


async def test_a_certificate_of_another_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client = certificate(tmp_path, "other.example")

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    with stub_server(server) as stub:
        url = f"https://pinned.example:{stub.port}/"
        monkeypatch.setattr(addresses, "_resolve", resolve)
        for trusted in (outgoing.load_trust(), client):
            monkeypatch.setattr(outgoing, "load_trust", lambda trusted=trusted: trusted)
            with pytest.raises(FetchRefused) as refused:
                await fetch_page(url, allow_hosts=["pinned.example"])
            assert refused.value.why == "tls"
    assert stub.asked == []


async def test_the_next_address_of_a_name_is_tried(stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["::1", "127.0.0.1"]

    monkeypatch.setattr(addresses, "_resolve", resolve)
    url = stub.url(host="both.example")
    assert (await fetch_page(url, allow_hosts=["both.example"])).text


async def test_a_huge_page_is_read_up_to_the_limit(stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    stub.answers["/"] = Answer(body=b"x" * 65_536, endless=True)
    monkeypatch.setattr(outgoing, "MAX_PAGE_BYTES", 100_000)
    page = await fetch_page(stub.url(), allow_hosts=HERE)
    assert (len(page.text), page.truncated) == (100_000, True)


async def test_a_packed_page_is_unpacked_up_to_the_limit(
    stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    stub.answers["/"] = Answer(body=gzip.compress(b"<title>packed</title>"), headers=html)
    stub.answers["/bomb"] = Answer(body=packed_bomb(50), headers=html)
    stub.answers["/bad"] = Answer(body=b"not packed at all", headers=html)
    stub.answers["/br"] = Answer(headers=html | {"Content-Encoding": "br"})
    assert (await fetch_page(stub.url(), allow_hosts=HERE)).text == "<title>packed</title>"
    monkeypatch.setattr(outgoing, "MAX_PAGE_BYTES", 100_000)
    bomb = await fetch_page(stub.url("/bomb"), allow_hosts=HERE)
    assert (len(bomb.text), bomb.truncated) == (100_000, True)
    for path, why in (("/bad", "broken"), ("/br", "type")):
        with pytest.raises(FetchRefused) as refused:
            await fetch_page(stub.url(path), allow_hosts=HERE)
        assert refused.value.why == why


async def test_a_page_that_never_ends_is_given_up_in_time(
    stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answers["/"] = Answer(stall=True)
    monkeypatch.setattr(outgoing, "PAGE_SECONDS", 0.3)
    began = time.monotonic()
    with pytest.raises(FetchRefused) as refused:
        await fetch_page(stub.url(), allow_hosts=HERE)
    assert refused.value.why == "timeout"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(status=404), "status"),
        (Answer(status=500), "status"),
        (Answer(status=204, body=b""), "status"),
        (Answer(headers={"Content-Type": "application/pdf"}), "type"),
        (Answer(headers={"Content-Type": "image/png"}), "type"),
        (Answer(headers={}), "type"),
    ],
)
async def test_what_is_no_page_is_refused(stub: StubServer, answer: Answer, why: str) -> None:
    stub.answers["/"] = answer
    with pytest.raises(FetchRefused) as refused:
        await fetch_page(stub.url(), allow_hosts=HERE)
    assert refused.value.why == why


async def test_a_closed_port_is_refused() -> None:
    with pytest.raises(FetchRefused) as refused:
        await fetch_page(f"http://127.0.0.1:{closed_port()}/", allow_hosts=HERE)
    assert refused.value.why == "connect"


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/html; charset=shift_jis", "日本".encode("shift_jis"), "日本"),
        ("text/html", b'<meta charset="windows-1252">\xfcber', '<meta charset="windows-1252">über'),
        ("text/html; charset=punycode", b"plain", "plain"),
        ("text/plain; charset=nonsense", b"\xff!", "\ufffd!"),
    ],
)
async def test_a_page_is_decoded_by_what_it_says(
    stub: StubServer, content_type: str, body: bytes, text: str
) -> None:
    stub.answers["/"] = Answer(body=body, headers={"Content-Type": content_type})
    assert (await fetch_page(stub.url(), allow_hosts=HERE)).text == text


async def test_json_is_posted_and_its_answer_read(stub: StubServer) -> None:
    stub.answers["/hook"] = Answer(status=202, body=b"ok", headers={"Retry-After": "3"})
    posted = await post_json(stub.url("/hook"), b'{"a":1}', headers={"webhook-id": "1"}, allow_hosts=HERE)
    assert (posted.status, posted.body, posted.retry_after) == (202, b"ok", "3")
    asked = stub.asked[0]
    assert (asked.method, asked.body, asked.headers["webhook-id"]) == ("POST", b'{"a":1}', "1")
    assert asked.headers["content-type"] == "application/json"


async def test_a_post_follows_no_redirect(stub: StubServer) -> None:
    stub.answers["/hook"] = redirect(stub.url("/elsewhere"))
    assert (await post_json(stub.url("/hook"), b"{}", allow_hosts=HERE)).status == 302
    assert [asked.path for asked in stub.asked] == ["/hook"]


async def test_a_post_to_a_private_address_is_refused(stub: StubServer) -> None:
    with pytest.raises(FetchRefused):
        await post_json(stub.url(), b"{}")
    assert stub.asked == []


async def test_the_answer_to_a_post_is_read_up_to_the_limit(
    stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answers["/hook"] = Answer(body=b"y" * 65_536, endless=True)
    posted = await post_json(stub.url("/hook"), b"{}", allow_hosts=HERE)
    assert len(posted.body) == 65_536
