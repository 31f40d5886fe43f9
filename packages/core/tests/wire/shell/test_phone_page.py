"""The page with the QR code, and a server behind a proxy or tunnel."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from tests.support.keyed_browser import is_confirm_page
from tests.support.opened import on_embedded_store
from tests.support.review.kit import Server, forms, post
from tests.support.sqlite_files import new_sqlite

OUTSIDE = "https://assent.example.com"


proxied = on_embedded_store(partial(Server, base_url=OUTSIDE, trust_proxy_headers=True))


async def test_the_code_is_shown_where_a_phone_can_reach_the_server(proxied: Server) -> None:
    page = (await (await proxied.owner()).get("/settings/phone")).text

    assert "<svg" in page
    assert f"QR code of {OUTSIDE}/inbox" in page
    assert "style=" not in page.partition("<svg")[2].partition("</svg>")[0]
    assert "token" not in page and "/sign-in/" not in page


async def test_a_code_that_signs_in_is_shown_to_a_person_who_confirms_and_works_once(proxied: Server) -> None:
    owner = await proxied.owner()
    owner.confirms = False
    page = (await owner.get("/settings/phone")).text
    [form] = [each for each in forms(page) if each.address == "/settings/phone"]

    asked = await owner.post(form.address, data=form.fields)

    assert is_confirm_page(asked) and f"{OUTSIDE}/sign-in/" not in asked.text
    shown = await owner.confirm(asked)
    link = re.search(rf"{OUTSIDE}/sign-in/([\w-]{{54}})", shown.text)
    assert link is not None and "QR code that signs in your phone" in shown.text
    phone = proxied.browser()
    assert (await phone.post(f"/sign-in/{link[1]}", data={})).status_code == 303
    assert (await proxied.browser().post(f"/sign-in/{link[1]}", data={})).status_code == 404


async def test_no_code_is_shown_for_a_server_of_this_machine_alone(tmp_path: Path) -> None:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path)
    try:
        page = (await (await server.owner()).get("/settings/phone")).text
    finally:
        await server.close()

    assert "<svg" not in page.partition("<main")[2]
    assert "Deciding on a phone" in page


async def test_behind_a_proxy_links_cookies_and_forms_use_the_address_outside(proxied: Server) -> None:
    run = await proxied.stage(post())
    browser = proxied.browser(**{"X-Forwarded-For": "198.51.100.9", "X-Forwarded-Proto": "https"})
    owner = await proxied.owner(browser)

    assert run.review_url.startswith(f"{OUTSIDE}/runs/")
    assert all(each.secure and each.name.startswith("__Host-") for each in owner.cookies.jar)
    answer = await proxied.decide(owner, run.run_id, run.actions[0].id, "approve")
    assert answer.status_code == 303
    # The proxy passes the Host on, or names another that the settings do not know.
    assert (await owner.get("/inbox", headers={"Host": "elsewhere.example"})).status_code == 421
    nonce = {"Origin": "http://assent.example.com"}
    assert (await owner.post("/workspace", data={}, headers=nonce)).status_code == 403
