"""The page about the phone: its settings are accepted and offer the code. The page on notifications names every kind
and choice."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.certificates import write_certificate
from tests.support.docs.pages import DOCS, block_of, blocks_of

from assent.engine.people import notifications
from assent.engine.people.notifiers import MailNotifier, WebPushNotifier
from assent.kernel.limits import DAY_MS
from assent.processes.start_checks import check_certificate
from assent.settings.load import load_settings
from assent.settings.public_url import phone_url
from assent_notify.notifiers import make_notifiers

PAGE = "phone.md"


def test_every_block_of_settings_is_read_here_and_the_rest_are_commands_of_others() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == [
        "console",
        "toml",
        "text",
        "toml",
        "console",
        "toml",
    ]
    assert blocks_of("notifications.md") == []


@pytest.mark.parametrize(
    ("position", "address"),
    [
        (0, "https://desk.tail1234.ts.net"),
        (1, "https://assent.example.com"),
        (2, "https://192.168.1.20:8443"),
    ],
)
def test_the_settings_of_each_way_offer_the_code(tmp_path: Path, position: int, address: str) -> None:
    (tmp_path / "assent.toml").write_text(block_of(PAGE, "toml", position))
    write_certificate(tmp_path, "192.168.1.20")
    (tmp_path / "cert.pem").rename(tmp_path / "server.pem")
    (tmp_path / "key.pem").rename(tmp_path / "server.key")

    settings = load_settings({"data_dir": str(tmp_path)}, {"HOME": str(tmp_path)}).settings

    behind_proxy = "tls_cert" not in block_of(PAGE, "toml", position)
    assert settings.base_url == address
    # An address of this machine is offered only where this machine has it.
    assert phone_url(settings) == (address if behind_proxy else "")
    assert (check_certificate(settings) is None) == behind_proxy


def test_the_page_on_notifications_names_every_kind() -> None:
    page = (DOCS / "notifications.md").read_text(encoding="utf-8").lower()
    for each in (
        *make_notifiers({"telegram_url": "https://api.telegram.org"}),
        MailNotifier(),
        WebPushNotifier(),
    ):
        assert (each.label if not each.by_browser else "web push").lower() in page, each.kind
    assert notifications.LEAD_MS == DAY_MS and "a day\nbefore" in page
