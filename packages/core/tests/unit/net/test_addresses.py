"""Which addresses may be asked at all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assent.net.addresses import FetchRefused, check, is_allowed, is_global

NOT_PUBLIC = [
    "0.0.0.0",  # noqa: S104 - read, not bound
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "100::1",
    "not an address",
    "",
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001::1", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_not_global(address: str) -> None:
    assert not is_global(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_global(address: str) -> None:
    assert is_global(address)


LITERALS = [
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.0.0.1./",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[fe80::1]/",
    "https://[fd00:ec2::254]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://192.168.0.1/",
    "https://10.1.2.3/",
    "https://100.100.100.200/",
    "https://①②⑦.⓪.⓪.①/",
    "https://127。0。0。1/",
]


@pytest.mark.parametrize("url", LITERALS)
async def test_a_number_that_is_not_public_is_refused_however_it_is_written(url: str) -> None:
    with pytest.raises(FetchRefused) as refused:
        await check(url)
    assert refused.value.why in ("address", "url", "dns")


BAD = [
    ("http://example.com/", "scheme"),
    ("ftp://example.com/", "scheme"),
    ("file:///etc/passwd", "url"),
    ("gopher://example.com/", "scheme"),
    ("javascript:alert(1)", "url"),
    ("data:text/html,hi", "url"),
    ("https://", "url"),
    ("example.com", "url"),
    ("//example.com/", "url"),
    ("", "url"),
    ("https://user:secret@example.com/", "url"),
    ("https://user@example.com/", "url"),
    ("https://example.com@127.0.0.1/", "url"),
    ("https://example.com:8443/", "port"),
    ("https://example.com:80/", "port"),
    ("https://exa mple.com/", "url"),
    ("https://example.com\\@127.0.0.1/", "url"),
    ("https://example.com/\r\nHost: internal", "url"),
    ("https://example.com/" + "a" * 3_000, "url"),
    ("https://[::1/", "url"),
]


@pytest.mark.parametrize(("url", "why"), BAD)
async def test_what_is_no_plain_https_address_is_refused(url: str, why: str) -> None:
    async def nowhere(host: str, port: int) -> Sequence[str]:
        raise AssertionError("not to be resolved")

    with pytest.raises(FetchRefused) as refused:
        await check(url, resolve=nowhere)
    assert refused.value.why == why


@pytest.mark.parametrize(
    "found",
    [
        ["10.0.0.5"],
        ["1.1.1.1", "10.0.0.5"],
        ["1.1.1.1"] * 5 + ["127.0.0.1"],
        ["2606:4700::1111", "::1"],
        ["fe80::1%lo"],
    ],
)
async def test_a_name_with_any_private_address_is_refused(found: list[str]) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return found

    with pytest.raises(FetchRefused) as refused:
        await check("https://innocent.example/", resolve=resolve)
    assert refused.value.why == "address"


async def test_a_public_name_is_taken_with_the_addresses_that_were_checked() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        assert (host, port) == ("xn--bcher-kva.example", 443)
        return ["1.1.1.1", "2606:4700::1111", "1.1.1.1"]

    target = await check("https://Bücher.example./a?b=c#d", resolve=resolve)
    assert target.addresses == ("1.1.1.1", "2606:4700::1111")
    assert target.url.raw_path == b"/a?b=c"


async def test_a_name_without_an_address_is_refused() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return []

    with pytest.raises(FetchRefused) as refused:
        await check("https://gone.example/", resolve=resolve)
    assert refused.value.why == "dns"


@pytest.mark.parametrize(
    ("host", "port", "allow", "allowed"),
    [
        ("localhost", 8000, ["localhost"], True),
        ("localhost", 8000, ["LOCALHOST:8000"], True),
        ("localhost", 8001, ["localhost:8000"], False),
        ("::1", 80, ["[::1]"], True),
        ("::1", 80, ["::1"], True),
        ("::1", 90, ["[::1]:80"], False),
        ("evil-localhost", 80, ["localhost"], False),
        ("localhost.evil.example", 80, ["localhost"], False),
        ("10.0.0.1", 80, ["10.0.0.2"], False),
        ("10.0.0.1", 80, [], False),
    ],
)
def test_a_host_is_allowed_by_its_whole_name_and_port(
    host: str, port: int, allow: list[str], allowed: bool
) -> None:
    assert is_allowed(host, port, allow) is allowed
