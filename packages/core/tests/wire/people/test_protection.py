"""What every page says about itself, and which forms are taken."""

from __future__ import annotations

import re

import httpx
import pytest
from tests.support.people.fixtures import KEY, Site
from tests.support.surfaces import BASE_URL

from assent.serving.web.shell.headers import CONFIRMING_POLICY, CONTENT_SECURITY_POLICY

OWN_SCRIPT = re.compile(r'<script src="/static/console[^"]*" defer></script>')


async def every_answer(site: Site) -> list[httpx.Response]:
    """One of each page, good and bad."""
    browser, path = site.browser, await site.link()
    return [
        await browser.get("/"),
        await browser.get("/for-agents"),
        await browser.get("/get-key"),
        await browser.post("/get-key", data={"email": "ada@example.org"}),
        await browser.post("/get-key", data={"email": "x"}),
        await browser.get(path),
        await browser.head(path),
        await browser.post(path),
        await browser.post(path),
        await browser.post(path, headers={"Sec-Fetch-Site": "cross-site"}),
        await browser.get("/nothing"),
        await browser.get("/static/nothing.css"),
        await browser.delete("/get-key"),
        await browser.post("/get-key", content=b"x" * 70_000),
        await browser.post("/get-key", json={}),
    ]


async def test_every_page_carries_every_protection(site: Site) -> None:
    answers = await every_answer(site)

    assert {answer.status_code for answer in answers} == {200, 400, 403, 404, 405, 413, 415}
    for answer in answers:
        headers = answer.headers
        policy = CONFIRMING_POLICY if KEY.search(answer.text) else CONTENT_SECURITY_POLICY
        assert headers["content-security-policy"] == policy
        assert headers["referrer-policy"] == "strict-origin"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
    # The page that shows a key signs its browser in; nothing else here leaves anything behind.
    kept = [answer.headers["set-cookie"] for answer in answers if "set-cookie" in answer.headers]
    assert {each.partition("=")[0] for each in kept} == {"assent-session"}
    assert all("HttpOnly" in each and "SameSite=lax" in each for each in kept)


async def test_no_page_has_inline_script_or_style_or_anything_from_elsewhere(site: Site) -> None:
    for answer in await every_answer(site):
        # The page that shows a key has the one script of ours, for its Copy buttons.
        text, scripts = OWN_SCRIPT.subn("", answer.text)
        assert scripts == bool(KEY.search(answer.text)), answer.request.url.path
        for piece in ("<script", "<style", "style=", "onclick", "onload", "<iframe", 'src="http', "@import"):
            assert piece not in text, f"{answer.request.url.path}: {piece}"


def test_the_policy_allows_no_script_no_frame_and_no_foreign_form() -> None:
    policy = dict(rule.split(" ", 1) for rule in CONTENT_SECURITY_POLICY.split("; "))

    assert policy == {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "font-src": "'self'",
        "manifest-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "script-src": "'none'",
    }


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"},
        {"Sec-Fetch-Site": "cross-site", "Origin": BASE_URL},
        {"Sec-Fetch-Site": ""},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:8081"},
        {"Origin": "https://127.0.0.1:8080"},
        {"Origin": "http://127.0.0.1:8080.evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
    ],
)
async def test_a_form_from_another_site_is_refused_and_changes_nothing(
    site: Site, headers: dict[str, str]
) -> None:
    path = await site.link()
    before = await site.everything()

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=site.app), base_url=BASE_URL) as foreign:
        for answer in (
            await foreign.post(path, headers=headers),
            await foreign.post("/get-key", data={"email": "ada@example.org"}, headers=headers),
        ):
            assert answer.status_code == 403
            assert KEY.search(answer.text) is None
    assert await site.everything() == before
    assert (await site.browser.post(path)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": BASE_URL},
        {"Origin": BASE_URL, "Host": "assent.internal"},
        {"Origin": "http://localhost:8080", "Host": "localhost:8080"},
        {},
    ],
)
async def test_our_own_form_is_taken_by_every_name_we_are_reached_by(
    site: Site, headers: dict[str, str]
) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=site.app), base_url=BASE_URL) as own:
        # By another name than this machine's the key waits for a confirmation.
        assert (await own.post(await site.link(), headers=headers)).status_code in (200, 303)


async def test_a_form_that_is_too_large_is_refused_however_it_arrives(site: Site) -> None:
    async def pieces() -> object:
        for _ in range(70):
            yield b"x" * 1_000

    declared = await site.browser.post("/get-key", content=b"email=" + b"x" * 66_000)
    streamed = await site.browser.post("/get-key", content=pieces())  # type: ignore[arg-type]

    assert declared.status_code == streamed.status_code == 413
    assert "shorten" in declared.text


@pytest.mark.parametrize(
    "body",
    [
        b"email=ada%00@example.org",
        b"email=%ff%fe",
        b"email=\xc3\xa9",
        b"name=%1b[2J",
        b"&".join([b"a=1"] * 200),
    ],
)
async def test_a_form_that_holds_no_text_is_refused(site: Site, body: bytes) -> None:
    answer = await site.browser.post(
        "/get-key", content=body, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )

    assert answer.status_code == 400
    assert (await site.everything())["signup_links"] == []


async def test_a_program_that_asks_for_a_page_that_is_not_there_gets_json(site: Site) -> None:
    answer = await site.browser.get("/nothing", headers={"Accept": "application/json"})

    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})
