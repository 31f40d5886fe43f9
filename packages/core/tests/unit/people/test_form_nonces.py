"""A nonce ties a form to its browser and to what it is about."""

from __future__ import annotations

import os
from http.cookies import SimpleCookie

import pytest
from starlette.requests import Request
from starlette.responses import Response

from assent.kernel.tokens import KeyRing
from assent.serving.web.shell.forms import NONCE_TTL_MS, Browser, FormNonces
from assent.serving.web.shell.problems import STALE_FORM, PageRefused

NOW = 1_790_000_000_000
SUBJECT = "owner approve 0190a000-0000-7000-8000-00000000000a sha256:abc"
KEYS = KeyRing.for_purpose((b"a secret for the form nonces in tests",), "forms")


def nonces(keys: KeyRing = KEYS, base_url: str = "http://127.0.0.1:8080") -> FormNonces:
    return FormNonces(keys, os.urandom, base_url=base_url)


def request_with(cookies: dict[str, str]) -> Request:
    line = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return Request({"type": "http", "method": "POST", "headers": [(b"cookie", line.encode("latin-1"))]})


def opened(forms: FormNonces) -> tuple[Browser, Request]:
    """A browser that has just been given its cookie."""
    browser = forms.browser(request_with({}))
    return browser, request_with({forms.cookie: browser.browser_id})


def refused(
    forms: FormNonces, request: Request, nonce: str, subject: str = SUBJECT, now_ms: int = NOW
) -> bool:
    with pytest.raises(PageRefused) as caught:
        forms.check(request, nonce, subject, now_ms)
    return caught.value.problem is STALE_FORM


def test_a_form_sent_from_the_page_that_showed_it_is_taken() -> None:
    forms = nonces()
    browser, request = opened(forms)
    nonce = forms.issue(browser, SUBJECT, NOW)

    forms.check(request, nonce, SUBJECT, NOW)
    forms.check(request, nonce, SUBJECT, NOW + NONCE_TTL_MS - 1)


def test_a_nonce_of_another_browser_subject_time_or_key_is_refused() -> None:
    forms = nonces()
    browser, request = opened(forms)
    _, stranger = opened(forms)
    nonce = forms.issue(browser, SUBJECT, NOW)
    other_keys = KeyRing.for_purpose((b"a secret for the form nonces in tests",), "sessions")

    assert refused(forms, stranger, nonce)
    assert refused(forms, request_with({}), nonce)
    assert refused(forms, request, nonce, SUBJECT + "d")
    assert refused(forms, request, nonce, now_ms=NOW + NONCE_TTL_MS)
    assert refused(nonces(other_keys), request, nonce)
    assert refused(forms, request, "")


def test_a_cookie_that_we_did_not_make_is_no_browser() -> None:
    forms = nonces()
    for value in ("", "short", "A" * 31, "A" * 33, "é" * 32, '"' + "A" * 32 + '"='):
        request = request_with({forms.cookie: value})
        assert forms.browser(request).is_new
        assert refused(forms, request, forms.issue(Browser(value, is_new=False), SUBJECT, NOW))


def test_a_known_browser_keeps_its_cookie() -> None:
    forms = nonces()
    browser, request = opened(forms)
    response = Response()

    again = forms.browser(request)
    forms.remember(again, response)

    assert again == Browser(browser.browser_id, is_new=False)
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    ("base_url", "name", "secure"),
    [("http://127.0.0.1:8080", "assent-form", False), ("https://assent.example", "__Host-assent-form", True)],
)
def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(
    base_url: str, name: str, secure: bool
) -> None:
    forms, response = nonces(base_url=base_url), Response()

    forms.remember(forms.browser(request_with({})), response)

    cookie = SimpleCookie(response.headers["set-cookie"])[name]
    assert cookie["httponly"]
    assert cookie["samesite"] == "lax"
    assert cookie["path"] == "/"
    assert cookie["domain"] == ""
    assert bool(cookie["secure"]) is secure
