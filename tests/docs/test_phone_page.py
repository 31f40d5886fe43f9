"""The page about the phone: its commands make a certificate that its settings serve, and the page on
notifications names every kind and choice."""

from __future__ import annotations

import json
import shlex
import ssl
from pathlib import Path

import pytest
from tests.docs.pages import DOCS, block_of, blocks_of
from tests.processes.running import ASSENT, environment
from tests.warm_processes import run

from assent.engine.people import reminders
from assent.kernel.limits import DAY_MS
from assent.processes.certificates import SERVER_DAYS
from assent.settings.load import load_settings
from assent.settings.reaching import phone_url
from assent.suite.notifiers import make_notifiers

PAGE = "phone.md"


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["sh", "toml", "sh", "toml"]
    assert blocks_of("notifications.md") == []


@pytest.mark.slow
def test_the_commands_make_what_the_settings_serve(tmp_path: Path) -> None:
    for position in (0, 1):
        words = shlex.split(block_of(PAGE, "sh", position))
        assert words[0] == "assent"
        done = run(
            [*ASSENT, *words[1:], "--data-dir", str(tmp_path), "--json"],
            capture_output=True,
            env=environment({}),
            check=True,
            timeout=60,
        )
        assert Path(json.loads(done.stdout)["authority"]) == tmp_path / "tls" / "ca.pem"
    (tmp_path / "assent.toml").write_text(block_of(PAGE, "toml"))

    settings = load_settings({"data_dir": str(tmp_path)}, {"HOME": str(tmp_path)}).settings

    assert settings.base_url == "https://192.168.1.20:8443"
    assert settings.tls_cert is not None and settings.tls_key is not None
    ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(settings.tls_cert, settings.tls_key)
    assert f"{SERVER_DAYS} days" in (DOCS / PAGE).read_text(encoding="utf-8")


def test_the_settings_for_a_proxy_offer_the_code(tmp_path: Path) -> None:
    (tmp_path / "assent.toml").write_text(block_of(PAGE, "toml", 1))
    settings = load_settings({"data_dir": str(tmp_path)}, {"HOME": str(tmp_path)}).settings
    assert phone_url(settings) == "https://assent.example.com"


def test_the_page_on_notifications_names_every_kind() -> None:
    page = (DOCS / "notifications.md").read_text(encoding="utf-8").lower()
    for each in make_notifiers({"telegram_url": "https://api.telegram.org"}):
        assert (each.label if not each.by_browser else "web push").lower() in page, each.kind
    assert reminders.LEAD_MS == DAY_MS and "a day\nbefore" in page
