"""A phone over https at an address of this machine that is not loopback: trust, sign in, decide; every tap counted."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import http.client
import json
import re
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.async_api import Browser, BrowserContext, Locator, Page, async_playwright, expect
from tests.support import warm_processes
from tests.support.certificates import write_certificate
from tests.support.chromium import NO_CHROMIUM, OPTIONS, PROGRAM
from tests.support.connectors.mail_server import Inbox, mail_server
from tests.support.processes.running import (
    ASSENT,
    DEADLINE_SECONDS,
    Serve,
    StdioClient,
    environment,
    eventually,
    find_own_address,
)

SIGNED_IN = re.compile("/(inbox|start)$")


def find_free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


def run(*words: str) -> dict[str, Any]:
    done = warm_processes.run(
        [*ASSENT, *words, "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment({}),
        check=True,
    )
    made: dict[str, Any] = json.loads(done.stdout)
    return made


class Phone:
    """`assent serve` over https, with a certificate for its address."""

    def __init__(self, data_dir: Path, more: dict[str, str]) -> None:
        self.data_dir = data_dir
        self.address = find_own_address()
        self.port = find_free_port(self.address)
        self.base_url = f"https://{self.address}:{self.port}"
        self.certificate, key = write_certificate(data_dir / "tls", self.address)
        settings = {
            "ASSENT_HOST": "0.0.0.0",  # noqa: S104 - reached at its own address
            "ASSENT_BASE_URL": self.base_url,
            "ASSENT_TLS_CERT": str(self.certificate),
            "ASSENT_TLS_KEY": str(key),
            **more,
        }
        self.settings = settings
        self.serve = Serve(data_dir, settings, port=self.port, wait=False)
        eventually(self.answers, "https is served")

    def answers(self) -> bool:
        if self.serve.process.poll() is not None:
            raise AssertionError(self.serve.log)
        try:
            return self.get("/healthz") == 200
        except OSError:
            return False

    def get(self, path: str, *, trusts: bool = True) -> int:
        """The status, for a client that checks the certificate and the name."""
        context = ssl.create_default_context(cafile=str(self.certificate) if trusts else None)
        connection = http.client.HTTPSConnection(
            self.address, self.port, timeout=DEADLINE_SECONDS, context=context
        )
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def stage(self) -> str:
        """The id of a run with one draft of low or medium risk."""
        with StdioClient(self.data_dir, self.settings) as agent:
            agent.ask("initialize")
            said = agent.call("chieflab_post", channel="site", title="News", body="We built Assent today.")
            run_id: str = said["runId"]
            return run_id

    @property
    def key_hash(self) -> str:
        certificate = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        spki = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(hashlib.sha256(spki).digest()).decode()


class Taps:
    """A phone in the hand of a person: every tap is counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    async def tap(self, on: Locator) -> None:
        await expect(on).to_be_in_viewport()
        self.count += 1
        await on.tap()

    async def open(self, link: str) -> None:
        """Tap a notification, or a link in a mail."""
        self.count += 1
        await self.page.goto(link)

    async def approve(self) -> None:
        """Approve what the page of a run shows: the button, and the one that says what happens."""
        form = self.page.locator("form[data-decision=approve]")
        button = self.page.locator("details", has=form).locator("> summary")
        await expect(button).to_be_in_viewport()
        sizes = await self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert sizes[0] <= sizes[1]
        await self.tap(button)
        await self.tap(form.get_by_role("button", name="Approve and send now"))
        await expect(self.page.locator("main")).to_contain_text("Approved by")


async def read_link(inbox: Inbox, to: str, path: str) -> str:
    """The link of the newest mail to a person."""

    def found() -> str:
        for each in reversed(inbox.taken):
            text = (each.original_content or b"").replace(b"=\r\n", b"").decode()
            links = [word for word in text.split() if word.startswith("https://") and path in word]
            if to in each.rcpt_tos and links:
                return links[0]
        return ""

    return await asyncio.to_thread(eventually, found, f"a mail with {path} reaches {to}")


@asynccontextmanager
async def trusting_browser(phone: Phone) -> AsyncIterator[Browser]:
    """A Chromium that trusts the key of the certificate, as a phone trusts the authority."""
    async with async_playwright() as playwright:
        args = [*OPTIONS[:-1], f"--ignore-certificate-errors-spki-list={phone.key_hash}"]
        browser = await playwright.chromium.launch(executable_path=PROGRAM, args=args)
        try:
            yield browser
        finally:
            await browser.close()


async def press_and_confirm(page: Page, button: str) -> None:
    """At the desk: press a button, and the one of the page that asks once more."""
    await page.get_by_role("button", name=button, exact=True).click()
    await page.locator("#confirm-key:enabled").click()


@pytest.mark.slow
async def test_a_phone_decides_three_taps_after_a_notification_and_needs_no_terminal(tmp_path: Path) -> None:
    """No command is run for the phone. At the desk its owner is signed in, as after every first start; the settings
    page signs in the phone, a colleague's phone signs in by a mail that its own page asks for."""
    if PROGRAM is None:
        pytest.skip(NO_CHROMIUM)
    inbox = Inbox()
    async with mail_server(inbox) as port:
        mail = {
            "ASSENT_SMTP_URL": f"smtp://127.0.0.1:{port}?starttls=never",
            "ASSENT_SMTP_FROM": "Assent <post@harbor.example>",
            "ASSENT_UNDO_SECONDS": "0",
        }
        phone = await asyncio.to_thread(Phone, tmp_path, mail)
        with phone.serve:
            assert phone.get("/healthz") == 200
            with pytest.raises(ssl.SSLCertVerificationError):
                phone.get("/healthz", trusts=False)
            desk_link = await asyncio.to_thread(run, "owner-link", "--data-dir", str(phone.data_dir))
            async with trusting_browser(phone) as browser:
                code = await set_up(browser, phone, desk_link["url"])
                own = await (await new_phone(browser)).new_page()
                await own.goto(code)
                await own.get_by_role("button", name="Sign in").tap()
                await own.wait_for_url(SIGNED_IN)
                assert all(each["secure"] for each in await own.context.cookies())

                run_id = await asyncio.to_thread(phone.stage)
                mine = Taps(own)
                await mine.open(await read_link(inbox, "ingrid@harbor.example", f"/runs/{run_id}"))
                await mine.approve()
                assert mine.count == 3

                inbox.taken.clear()
                run_id = await asyncio.to_thread(phone.stage)
                # A phone that no one has signed in yet, of a colleague with a known address.
                theirs = Taps(await (await new_phone(browser)).new_page())
                await theirs.open(await read_link(inbox, "tomasz@harbor.example", f"/runs/{run_id}"))
                await theirs.tap(theirs.page.get_by_role("link", name="Sign in", exact=True).last)
                await theirs.page.get_by_label("Your e-mail address").fill("tomasz@harbor.example")
                await theirs.tap(theirs.page.get_by_role("button", name="Mail me a link"))
                await theirs.open(await read_link(inbox, "tomasz@harbor.example", "/sign-in/"))
                await theirs.tap(theirs.page.get_by_role("button", name="Sign in"))
                await theirs.approve()
                await expect(theirs.page.locator("main")).to_contain_text("Tomasz Nowak")
                assert theirs.count == 7


async def new_phone(browser: Browser) -> BrowserContext:
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True, reduced_motion="reduce"
    )
    context.set_default_timeout(15_000)
    return context


async def set_up(browser: Browser, phone: Phone, desk_link: str) -> str:
    """At the desk, on pages alone: invite a colleague, choose where both are notified, and show the code for the
    phone. Returns the address in the code."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    await page.goto(desk_link)
    await page.get_by_label("Your name").fill("Ingrid Solberg")
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url(SIGNED_IN)
    await page.goto(f"{phone.base_url}/settings/people")
    await page.get_by_label("Name", exact=True).fill("Tomasz Nowak")
    await page.get_by_label("E-mail").first.fill("tomasz@harbor.example")
    await page.locator('[name^="in."]').first.check()
    await press_and_confirm(page, "Create invite link")
    await expect(page.locator("main")).to_contain_text("/sign-in/")
    for address, whose in (("ingrid@harbor.example", "me"), ("tomasz@harbor.example", "")):
        await page.goto(f"{phone.base_url}/settings/notifications")
        await page.locator(f'[name=whose][value="{whose}"]:not([type=hidden])').check()
        await page.locator('[name=kind][value="email"]').check()
        await page.get_by_label("Where", exact=True).fill(address)
        await press_and_confirm(page, "Add")
        await expect(page.locator("main")).to_contain_text(address)
    await page.goto(f"{phone.base_url}/settings/phone")
    await press_and_confirm(page, "Show a sign-in code")
    shown = page.locator("main .copyable")
    await expect(shown).to_contain_text(f"{phone.base_url}/sign-in/")
    code = (await shown.inner_text()).strip()
    await context.close()
    return code


def test_a_certificate_that_does_not_work_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path / "one", "192.168.1.20")
    _, other = write_certificate(tmp_path / "other", "192.168.1.20")
    for settings, named in (
        ({"ASSENT_TLS_CERT": str(certificate)}, "tls_key is not"),
        ({"ASSENT_TLS_CERT": str(certificate), "ASSENT_TLS_KEY": str(other)}, "do not fit each other"),
        ({"ASSENT_TLS_CERT": str(tmp_path / "none"), "ASSENT_TLS_KEY": str(key)}, "No such file"),
    ):
        with Serve(tmp_path, settings, wait=False) as serve:
            assert serve.wait() != 0
        assert named in serve.log
        assert "Traceback" not in serve.log
