"""A phone over https at an address of this machine that is not loopback: trust, sign in, decide."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.async_api import async_playwright, expect
from tests import warm_processes
from tests.chromium import NO_CHROMIUM, OPTIONS, PROGRAM
from tests.processes.running import ASSENT, DEADLINE_SECONDS, Serve, StdioClient, environment, eventually

from assent.processes.certificates import list_own_names, make_certificate

NOW_MS = 1_790_000_000_000


def find_own_address() -> str:
    """An address of this machine that is not loopback."""
    found = [each for each in list_own_names() if each.count(".") == 3 and not each.startswith("127.")]
    if not found:
        pytest.skip("this machine has no address but loopback")
    return found[0]


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
    """`assent serve` over https, with the certificate that `assent cert` made."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.address = find_own_address()
        self.port = find_free_port(self.address)
        self.base_url = f"https://{self.address}:{self.port}"
        self.made = run("cert", "--data-dir", str(data_dir), "--name", self.address, "--port", str(self.port))
        settings = {
            "ASSENT_HOST": "0.0.0.0",  # noqa: S104 - reached at its own address
            "ASSENT_BASE_URL": self.base_url,
            "ASSENT_TLS_CERT": self.made["certificate"],
            "ASSENT_TLS_KEY": self.made["key"],
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
        context = ssl.create_default_context(cafile=self.made["authority"] if trusts else None)
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
        certificate = x509.load_pem_x509_certificate(Path(self.made["certificate"]).read_bytes())
        spki = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(hashlib.sha256(spki).digest()).decode()


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Phone]:
    made = Phone(tmp_path)
    with made.serve:
        yield made


@pytest.mark.slow
async def test_a_phone_opens_the_link_of_a_note_signs_in_and_decides(phone: Phone) -> None:
    assert phone.get("/healthz") == 200
    with pytest.raises(ssl.SSLCertVerificationError):
        phone.get("/healthz", trusts=False)
    run_id = phone.stage()
    link = run("owner-link", "--data-dir", str(phone.data_dir))["url"]
    assert link.startswith(phone.base_url)
    if PROGRAM is None:
        pytest.skip(NO_CHROMIUM)

    async with async_playwright() as playwright:
        # This Chromium trusts the key of the certificate, as a phone trusts the authority.
        trusting = [*OPTIONS[:-1], f"--ignore-certificate-errors-spki-list={phone.key_hash}"]
        browser = await playwright.chromium.launch(executable_path=PROGRAM, args=trusting)
        try:
            context = await browser.new_context(
                viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
            )
            page = await context.new_page()
            await page.goto(f"{phone.base_url}/runs/{run_id}")
            assert await page.locator("form[data-decision]").count() == 0
            await page.goto(link)
            await page.get_by_role("button", name="Sign in").tap()
            await expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")
            cookies = await context.cookies()
            assert all(each["secure"] for each in cookies)
            # A tap on the notification opens this page; from there two taps decide.
            await page.goto(f"{phone.base_url}/runs/{run_id}")
            page.set_default_timeout(15_000)
            form = page.locator("form[data-decision=approve]")
            approve = page.locator("details", has=form).locator("summary")
            await expect(approve).to_be_in_viewport()
            sizes = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert sizes[0] <= sizes[1]
            await approve.tap()
            await expect(form.get_by_role("button", name="Approve and send now")).to_be_in_viewport()
            await form.get_by_role("button", name="Approve and send now").tap()
            await expect(page.locator("main")).to_contain_text("Approved by")
        finally:
            await browser.close()


def test_the_authority_stays_and_vouches_for_its_own_network_only(tmp_path: Path) -> None:
    first = make_certificate(tmp_path, ("192.168.1.20", "desk.local"), NOW_MS)
    again = make_certificate(tmp_path, ("10.1.2.3",), NOW_MS + 1)

    assert (first.is_new, again.is_new) == (True, False)
    assert first.fingerprint == again.fingerprint
    for key in ("ca.key", "server.key"):
        assert (tmp_path / "tls" / key).stat().st_mode & 0o777 == 0o600
    certificate = x509.load_pem_x509_certificate(again.certificate.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(each.value) for each in names] == ["10.1.2.3", "localhost", "127.0.0.1", "::1"]
    foreign = make_certificate(tmp_path, ("198.51.100.7", "bank.example"), NOW_MS + 2)
    assert foreign.is_new
    assert foreign.fingerprint != first.fingerprint


def test_a_certificate_that_does_not_work_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    made = make_certificate(tmp_path, ("192.168.1.20",), NOW_MS)
    other = make_certificate(tmp_path / "other", ("192.168.1.20",), NOW_MS)
    for settings, named in (
        ({"ASSENT_TLS_CERT": str(made.certificate)}, "tls_key is not"),
        ({"ASSENT_TLS_CERT": str(made.certificate), "ASSENT_TLS_KEY": str(other.key)}, "assent cert"),
        ({"ASSENT_TLS_CERT": str(tmp_path / "none"), "ASSENT_TLS_KEY": str(made.key)}, "assent cert"),
    ):
        with Serve(tmp_path, settings, wait=False) as serve:
            assert serve.wait() != 0
        assert named in serve.log
        assert "Traceback" not in serve.log
