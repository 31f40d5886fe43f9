"""What a cookie alone can do, and what a signature of the origin's key adds: the proof covers one form, at one path, of
one session, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages.core.tests.wire.review.test_inbox import batch
from packages.core.tests.wire.review.test_people_and_approvers import invited
from packages.core.tests.wire.review.test_several_approvers import demote
from tests.support.keyed_browser import BrowserKey, ConfirmPage, KeyedBrowser, is_confirm_page
from tests.support.review.kit import Server, form, forms, mail, post
from tests.support.shell import stories
from tests.support.sqlite_files import new_sqlite

from assent.engine.actions import drift_probe
from assent.engine.core import tenancy
from assent.engine.people import passkeys, people, proofs
from assent.engine.people.origins import can_hold_keys, count_cookie, origin_of
from assent.engine.people.people import Role
from assent.engine.people.proofs import FormStatement
from assent.gate.records import Assurance
from assent.kernel.ids import WorkspaceId
from assent.serving.web.shell.console import PLACE_COOKIE

LINK, CLIENT, PERSON, PASSKEY = Assurance.LINK, Assurance.CLIENT, Assurance.PERSON, Assurance.PASSKEY


@pytest.mark.parametrize(
    ("base_url", "signed_in_by", "counts"),
    [
        ("http://localhost:8080", PERSON, CLIENT),
        ("http://localhost:8080", PASSKEY, CLIENT),
        ("http://localhost:8080", LINK, LINK),
        ("http://127.0.0.1:8080", PERSON, CLIENT),
        ("http://assent.example", PERSON, CLIENT),
        ("https://localhost:8080", PERSON, CLIENT),
        ("https://app.localhost", PERSON, CLIENT),
        ("https://192.0.2.7", PERSON, CLIENT),
        ("https://[2001:db8::7]", PERSON, CLIENT),
        ("https://assent.example", PERSON, PERSON),
        ("https://assent.example", PASSKEY, PERSON),
        ("https://assent.example", LINK, LINK),
    ],
)
def test_a_cookie_counts_as_a_person_only_with_https_and_a_real_name(
    base_url: str, signed_in_by: Assurance, counts: Assurance
) -> None:
    assert count_cookie(base_url, signed_in_by) is counts


@pytest.mark.parametrize(
    ("base_url", "origin", "holds_keys", "party"),
    [
        ("http://localhost:8080", "http://localhost:8080", True, "localhost"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", True, None),
        ("http://[::1]:8080", "http://[::1]:8080", True, None),
        ("http://192.0.2.7:8080", "http://192.0.2.7:8080", False, None),
        ("http://assent.example", "http://assent.example", False, None),
        ("https://Assent.Example:443", "https://assent.example", True, "assent.example"),
        ("https://assent.example:8443", "https://assent.example:8443", True, "assent.example"),
    ],
)
def test_the_origin_has_its_port_and_only_some_addresses_have_keys(
    base_url: str, origin: str, holds_keys: bool, party: str | None
) -> None:
    assert origin_of(base_url) == origin
    assert can_hold_keys(base_url) is holds_keys
    assert passkeys.relying_party(base_url) == party


@given(
    st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4),
    st.sampled_from(["origin", "path", "session_id", "nonce", "fields", "key", "signature"]),
)
def test_a_signature_covers_every_part_of_a_statement(fields: dict[str, str], changed: str) -> None:
    key, other = BrowserKey(), BrowserKey()
    said = {"origin": "http://localhost:1", "path": "/p", "session_id": "s", "nonce": "n", "fields": fields}
    statement = FormStatement(**said)  # type: ignore[arg-type]
    signature = key.sign(statement.encode()).removeprefix("key:")
    assert proofs.is_signed(statement.encode(), signature, key.shown)

    if changed == "key":
        assert not proofs.is_signed(statement.encode(), signature, other.shown)
    elif changed == "signature":
        assert not proofs.is_signed(statement.encode(), signature[:-2] + "AA" * 2, key.shown)
    else:
        value: Any = {**fields, "more": "x"} if changed == "fields" else f"{said[changed]}x"
        altered = FormStatement(**{**said, changed: value})
        assert not proofs.is_signed(altered.encode(), signature, key.shown)


@pytest.mark.parametrize("text", ["", "x", "AAAA", "A" * 87, BrowserKey().shown[:-1], "ä" * 87], ids=range(6))
def test_what_is_no_point_of_the_curve_is_no_key(text: str) -> None:
    assert not proofs.is_public_key(text)
    assert not proofs.is_signed(b"x", BrowserKey().sign(b"x").removeprefix("key:"), text)
    assert not proofs.is_signed(b"x", text, BrowserKey().shown)


def thief(server: Server, victim: KeyedBrowser) -> KeyedBrowser:
    """A program that got the cookies, as a page on another port of the same host does. It has no key."""
    made = server.browser()
    for name, value in victim.cookies.items():
        made.cookies.set(name, value)
    made.confirms = False
    return made


async def ask(server: Server, browser: KeyedBrowser, effect: Any = None) -> tuple[str, httpx.Response]:
    """Press approve for something of high risk: the action, and the answer."""
    run = await server.stage(effect or mail(recipients=60))
    action_id = run.actions[0].id
    shown = form(await server.page(browser, run.run_id), action_id, "approve")
    return action_id, await browser.post(shown.address, data=shown.fields)


async def status(server: Server, action_id: str) -> tuple[str, str | None]:
    action = await server.action(action_id)
    return action.status.value, action.approval.assurance.value if action.approval else None


async def test_a_person_approves_high_risk_on_the_confirm_page(server: Server) -> None:
    owner = await server.owner(name="Ada")
    owner.confirms = False
    action_id, asked = await ask(server, owner)

    assert is_confirm_page(asked)
    assert "script-src 'self'" in asked.headers["content-security-policy"]
    assert "connect-src" not in asked.headers["content-security-policy"]
    action = await server.action(action_id)
    for said in (
        action.view.noun,
        action.view.destination.removeprefix("To "),
        f"Revision {action.revision}",
    ):
        assert said in httpx.Response(200, text=asked.text).text
    assert await status(server, action_id) == ("awaiting_approval", None)

    done = await owner.confirm(asked)

    assert done.status_code == 303, done.text
    assert await status(server, action_id) == ("approved", "person")


async def test_a_stolen_cookie_reads_but_decides_no_more_than_a_chat(server: Server) -> None:
    owner = await server.owner()
    stolen = thief(server, owner)

    action_id, asked = await ask(server, stolen)
    low, done = await ask(server, stolen, post("site", connector="site", body="It works."))

    assert is_confirm_page(asked)
    assert await status(server, action_id) == ("awaiting_approval", None)
    assert (done.status_code, await status(server, low)) == (303, ("approved", "client"))


@pytest.mark.parametrize(
    "proof", ["", "key:", "key:AAAA", "passkey:", "passkey:{}", "passkey:[1]", "none", "own"]
)
async def test_no_invented_proof_is_taken(server: Server, proof: str) -> None:
    owner = await server.owner()
    stolen = thief(server, owner)
    action_id, asked = await ask(server, stolen)
    shown = ConfirmPage(asked.text)
    own = BrowserKey().sign(shown.statement())

    answer = await stolen.post(shown.path, data={**shown.fields, "proof": own if proof == "own" else proof})

    assert answer.status_code == 403
    assert await status(server, action_id) == ("awaiting_approval", None)


async def test_a_captured_confirmation_works_once(server: Server) -> None:
    owner = await server.owner()
    owner.confirms = False
    _, asked = await ask(server, owner)
    fields, path = owner.sign(asked), ConfirmPage(asked.text).path
    assert fields is not None
    assert (await owner.post(path, data=fields)).status_code == 303
    before = await server.everything()

    again = await thief(server, owner).post(path, data=fields)

    assert again.status_code == 409
    assert await server.everything() == before


@pytest.mark.parametrize("changed", ["path", "session", "origin", "fields", "nonce"])
async def test_a_signature_over_something_else_changes_nothing(server: Server, changed: str) -> None:
    owner = await server.owner()
    owner.confirms = False
    action_id, asked = await ask(server, owner)
    shown = ConfirmPage(asked.text)
    other = {
        "path": "/settings/keys",
        "session": "00000000-0000-4000-8000-000000000000",
        "origin": "http://127.0.0.1:9999",
        "fields": {**shown.fields, "then": "send"},
        "nonce": "x",
    }
    key = owner.keys[shown.public_key or ""]
    proof = key.sign(shown.statement(**{changed: other[changed]}))

    answer = await owner.post(shown.path, data={**shown.fields, "proof": proof})

    assert answer.status_code == 403
    assert await status(server, action_id) == ("awaiting_approval", None)


async def test_a_confirmation_of_one_form_confirms_no_other(server: Server) -> None:
    owner = await server.owner()
    owner.confirms = False
    _, asked = await ask(server, owner)
    second, other = await ask(server, owner)
    fields, aim = owner.sign(asked), ConfirmPage(other.text)
    assert fields is not None

    for sent in (
        {**aim.fields, "confirm": fields["confirm"], "proof": fields["proof"]},
        {**fields, "then": "send"},
        {**aim.fields, "proof": fields["proof"]},
    ):
        assert (await owner.post(aim.path, data=sent)).status_code in (403, 409)
    assert await status(server, second) == ("awaiting_approval", None)


async def test_a_confirmation_of_one_session_confirms_nothing_in_another(server: Server) -> None:
    owner, other = await server.owner(), await server.owner()
    owner.confirms = other.confirms = False
    action_id, asked = await ask(server, owner)
    fields = owner.sign(asked)
    assert fields is not None

    answer = await other.post(ConfirmPage(asked.text).path, data=fields)

    assert answer.status_code == 403
    assert await status(server, action_id) == ("awaiting_approval", None)


SETTINGS = [
    ("/settings/policy", "/settings/policy", {"preset": "people"}),
    ("/settings/keys", "/settings/keys", {"label": "mine"}),
    ("/settings/people", "/settings/people", {"name": "Eve", "role": "owner"}),
    ("/settings", "/settings/name", {"name": "Eve"}),
]


@pytest.mark.parametrize(("page", "address", "fields"), SETTINGS)
async def test_a_stolen_cookie_changes_no_setting(
    server: Server, page: str, address: str, fields: dict[str, str]
) -> None:
    owner = await server.owner()
    shown = [each for each in forms((await owner.get(page)).text) if each.address == address][-1]
    stolen = thief(server, owner)
    before = await server.everything()

    answer = await stolen.post(address, data={**shown.fields, **fields})

    assert is_confirm_page(answer)
    assert await server.everything() == before
    assert not is_confirm_page(await owner.post(address, data={**shown.fields, **fields}))
    assert await server.everything() != before


async def test_a_stolen_cookie_adds_no_key_and_no_passkey(server: Server) -> None:
    owner = await server.owner()
    stolen = thief(server, owner)
    before = await server.everything()

    for path in ("/sign-in", "/sign-in/passkey", "/sign-in/" + "A" * 54, "/settings/passkeys"):
        answer = await stolen.post(path, data={"key": BrowserKey().shown})
        assert answer.status_code >= 400, path
    assert await server.everything() == before


async def test_a_session_without_a_key_is_told_what_to_do(server: Server) -> None:
    browser = server.browser()
    browser.has_keys = False
    await server.owner(browser)

    action_id, asked = await ask(server, browser)

    assert "This browser has no key for this" in asked.text
    assert ConfirmPage(asked.text).public_key is None
    assert "This browser has no key" in (await browser.get("/sign-in")).text
    assert await status(server, action_id) == ("awaiting_approval", None)


async def test_a_key_that_is_none_uses_up_no_link(server: Server) -> None:
    browser, path = server.browser(), await server.sign_in_path()
    browser.has_keys = False

    assert (await browser.post(path, data={"key": "not a key"})).status_code == 400
    assert (await browser.post(path, data={})).status_code == 303


async def test_used_nonces_are_forgotten_when_they_would_be_refused_by_their_age(server: Server) -> None:
    owner = await server.owner()
    await ask(server, owner)
    assert len((await server.everything())["used_nonces"]) == 1

    server.clock.advance(hours=13)
    await server.app.store.write(lambda: people.forget_ended(server.clock.now_ms(), 100))

    assert (await server.everything())["used_nonces"] == []


async def test_with_https_and_a_name_the_cookie_is_a_person(tmp_path: Path) -> None:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, "https://assent.example")
    try:
        owner = await server.owner()
        owner.confirms = False
        action_id, done = await ask(server, owner)
        assert (done.status_code, await status(server, action_id)) == (303, ("approved", "person"))
    finally:
        await server.close()


@pytest.mark.parametrize(("page", "address", "fields"), SETTINGS)
async def test_a_stolen_cookie_changes_no_setting_with_https_either(
    tmp_path: Path, page: str, address: str, fields: dict[str, str]
) -> None:
    """Else it would lead to a passkey of the thief, or to a policy that asks for none."""
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, "https://assent.example")
    try:
        await test_a_stolen_cookie_changes_no_setting(server, page, address, fields)
    finally:
        await server.close()


@pytest.mark.parametrize(("page", "address", "fields"), SETTINGS[:2])
async def test_a_form_about_one_workspace_changes_no_other(
    server: Server, page: str, address: str, fields: dict[str, str]
) -> None:
    """Another tab chooses another workspace, or a page on another port sets that cookie: before the form is sent, and
    before it is confirmed."""
    owner, now_ms = await server.owner(), server.clock.now_ms()
    other = WorkspaceId("01999999-0000-7000-8000-000000000002")
    await server.app.store.write(lambda: tenancy.create_workspace(other, "Other", now_ms, by="a test"))
    shown = [each for each in forms((await owner.get(page)).text) if each.address == address][-1]
    owner.confirms = False
    asked = await owner.post(address, data={**shown.fields, **fields})
    confirmed = owner.sign(asked)
    assert confirmed is not None
    before = await server.everything()
    owner.cookies.set(PLACE_COOKIE, other)

    for sent in ({**shown.fields, **fields}, confirmed):
        assert (await owner.post(address, data=sent)).status_code == 403
    assert await server.everything() == before


async def test_only_a_person_lets_drafts_use_what_an_agent_recorded(server: Server) -> None:
    owner = await server.owner()
    await stories.remember(server, "We write British English everywhere.", state="proposed")
    page = (await owner.get("/memory?group=lessons")).text
    shown = next(each for each in forms(page) if each.address.endswith("/confirm"))
    stolen = thief(server, owner)

    assert is_confirm_page(await stolen.post(shown.address, data=shown.fields))
    assert shown.address in (await owner.get("/memory?group=lessons")).text
    assert (await owner.post(shown.address, data=shown.fields)).status_code == 303
    assert shown.address not in (await owner.get("/memory?group=lessons")).text


async def test_a_stolen_cookie_silences_no_notification(server: Server) -> None:
    owner = await server.owner()
    page = (await owner.get("/settings/notifications")).text
    add = next(each for each in forms(page) if each.address == "/settings/notifications")
    typed = {"kind": "ntfy", "address": "https://ntfy.example/topic", "whose": "me"}
    assert (await owner.post(add.address, data={**add.fields, **typed})).status_code == 303
    page = (await owner.get("/settings/notifications")).text
    shown = next(each for each in forms(page) if each.address.endswith("/choose"))
    nothing = {name: text for name, text in shown.fields.items() if name in ("nonce", "whose")}
    before = await server.everything()

    assert is_confirm_page(await thief(server, owner).post(shown.address, data=nothing))
    assert await server.everything() == before
    assert (await owner.post(shown.address, data=nothing)).status_code == 303


async def test_a_person_who_is_demoted_meanwhile_decides_no_more(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await invited(server, "Ada", Role.OWNER)
    run = await server.stage(post("site", connector="site", body="It works."))
    asked = await batch(server, ada, "approve", run.actions[0].id)
    [sure] = [each for each in forms(asked.text) if each.address == "/inbox/batch/approve"]

    async def meanwhile(*_: object, **__: object) -> None:
        await demote(server, "Ada")

    monkeypatch.setattr(drift_probe, "check_before_approval", meanwhile)
    answer = await ada.post(sure.address, data=sure.fields)

    assert answer.status_code == 403
    assert await status(server, run.actions[0].id) == ("awaiting_approval", None)


async def test_a_page_at_a_loopback_address_leads_to_the_name(tmp_path: Path) -> None:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, "http://localhost:8080")
    try:
        browser = server.browser()
        for host in ("127.0.0.1:8080", "[::1]:8080"):
            opened = {"Host": host, "Sec-Fetch-Mode": "navigate"}
            answer = await browser.get("/sign-in?a=%20b", headers=opened)
            assert (answer.status_code, answer.headers["location"]) == (
                303,
                "http://localhost:8080/sign-in?a=%20b",
            )
            for path in ("/healthz", "/sign-in"):
                assert (await browser.get(path, headers={"Host": host})).status_code == 200
        elsewhere = {"Host": "127.0.0.1:9", "Sec-Fetch-Mode": "navigate"}
        assert (await browser.get("/sign-in", headers=elsewhere)).status_code == 200
    finally:
        await server.close()
