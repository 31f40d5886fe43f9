"""What goes over the wire is compressed, and its length tells nothing about the nonces in it."""

from __future__ import annotations

import re
import string
from statistics import mean

import httpx
from tests.support.review.kit import Server, forms, post

from assent.serving.web.shell.rendering import MEDIA_TYPES, STYLE_SHEET, asset_path

NONCE = re.compile(r'action="/settings/name".*?name="nonce" value="([^"]+)"', re.DOTALL)
ROUNDS = 24


def length(answer: httpx.Response) -> int:
    assert answer.headers["content-encoding"] == "gzip"
    return int(answer.headers["content-length"])


async def test_pages_and_files_are_compressed_for_clients_that_read_it_and_for_no_other(
    server: Server,
) -> None:
    owner = await server.owner()
    await server.stage(post())
    for path in (
        "/inbox",
        "/settings",
        *map(asset_path, (STYLE_SHEET, "console.js", "vendor/htmx.js", "mark.svg")),
    ):
        plain = await owner.get(path, headers={"Accept-Encoding": "identity"})
        refused = await owner.get(path, headers={"Accept-Encoding": "gzip;q=0, br"})
        packed = await owner.get(path, headers={"Accept-Encoding": "br, gzip"})

        assert "content-encoding" not in plain.headers and "content-encoding" not in refused.headers, path
        assert length(packed) < len(plain.content) / 1.5, path
        assert {each.headers["vary"] for each in (plain, packed)} == {"Accept-Encoding"}, path
    font = await owner.get(asset_path("vendor/inter-latin.woff2"), headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in font.headers
    assert MEDIA_TYPES["vendor/inter-latin.woff2"] == "font/woff2"


async def test_the_length_of_a_page_does_not_say_whether_a_nonce_was_guessed(server: Server) -> None:
    """BREACH: a page that repeats what an attacker chose beside a nonce is shorter where the guess is right."""
    owner = await server.owner()

    async def measure(guess: str) -> float:
        sizes = []
        for n in range(ROUNDS):
            said = f'name="nonce" value="{guess}'
            answer = await owner.get("/audit", params={"q": f"{said}{string.ascii_letters[n]}"})
            sizes.append(length(answer))
        return mean(sizes)

    shown = (await owner.get("/audit", params={"q": "x"})).text
    known, *_ = re.findall(r'name="nonce" value="([^"]+)"', shown)
    assert abs(await measure(known[:24]) - await measure(known[:24].swapcase())) < 4


async def test_a_nonce_looks_different_in_each_response_and_works(server: Server) -> None:
    owner = await server.owner()
    nonces = [NONCE.search((await owner.get("/settings")).text)[1] for _ in range(20)]  # type: ignore[index]

    pieces = [{each[at : at + 6] for at in range(len(each) - 5)} for each in nonces]
    assert all(pieces[0].isdisjoint(other) for other in pieces[1:])
    page = (await owner.get("/settings")).text
    zone = re.search(r'action="/settings/zone".*?value="([^"]+)"', page, re.DOTALL)
    assert zone is not None
    forged = zone[1][:9] + ("B" if zone[1][9] == "A" else "A") + zone[1][10:]
    for nonce, status in ((zone[1], 303), (forged, 403), (zone[1][:8], 403), ("", 403)):
        answer = await owner.post("/settings/zone", data={"nonce": nonce, "zone": "Europe/Oslo"})
        assert answer.status_code == status, nonce


async def test_the_console_can_be_installed_and_signed_out_of_from_every_page(server: Server) -> None:
    owner = await server.owner()
    page = await owner.get("/runs")
    manifest = re.search(r'<link rel="manifest" href="([^"]+)">', page.text)
    assert (
        manifest is not None and 'name="theme-color"' in page.text and 'rel="apple-touch-icon"' in page.text
    )
    assert "manifest-src 'self'" in page.headers["content-security-policy"]
    answer = await owner.get(manifest[1])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/manifest+json")
    said = answer.json()
    assert (said["start_url"], said["scope"], said["display"]) == ("/inbox", "/", "standalone")
    for icon in said["icons"]:
        drawn = await owner.get(icon["src"])
        assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/png")
        assert drawn.content[16:24] == int(icon["sizes"].partition("x")[0]).to_bytes(4, "big") * 2

    for path in ("/inbox", "/runs", "/settings"):
        shown = forms((await owner.get(path)).text)
        form = next(each for each in shown if each.address == "/sign-out")
    answer = await owner.post("/sign-out", data=form.fields)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert (await owner.get("/runs")).status_code == 401
