"""How a mail server and a sender are written down, and what is refused at the start instead of at the first mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.net.mail_server import Mailbox, MailServer
from assent.settings.load import Settings, SettingsError, load_settings


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example.org", MailServer("mail.example.org", 587, "starttls")),
        ("smtps://mail.example.org", MailServer("mail.example.org", 465, "tls")),
        ("smtp://u:p%40ss@mail.example.org:25", MailServer("mail.example.org", 25, "starttls", "u", "p@ss")),
        ("smtp://mail.example.org?starttls=never", MailServer("mail.example.org", 587, "none")),
        ("smtp://localhost:1025", MailServer("localhost", 1025, "none")),
        ("smtp://u:p@127.0.0.1:1025", MailServer("127.0.0.1", 1025, "none", "u", "p")),
        ("smtp://[::1]:25?starttls=required", MailServer("::1", 25, "starttls")),
    ],
)
def test_an_address_says_host_encryption_and_who(url: str, server: MailServer) -> None:
    assert MailServer.parse(url) == server


@pytest.mark.parametrize(
    "url",
    [
        "mail.example.org:587",
        "http://mail.example.org",
        "smtp://",
        "smtp://mail.example.org/inbox",
        "smtp://mail.example.org:99999",
        "smtp://mail.example.org?starttls=maybe",
        "smtp://mail.example.org?tls=off",
        "smtp://u:hunter2@mail.example.org?starttls=never",
        "smtp://u@mail.example.org",
    ],
)
def test_an_address_that_cannot_work_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"^[^']+$") as refused:
        MailServer.parse(url)
    assert "hunter2" not in str(refused.value)


def test_a_server_never_shows_its_password() -> None:
    assert "hunter2" not in repr(MailServer.parse("smtp://u:hunter2@mail.example.org"))


@pytest.mark.parametrize(
    ("text", "mailbox"),
    [
        ("ann@example.org", Mailbox("", "ann@example.org")),
        ("Ann Löwe <ann@example.org>", Mailbox("Ann Löwe", "ann@example.org")),
        ('"Löwe, Ann" <ann@example.org>', Mailbox("Löwe, Ann", "ann@example.org")),
        ("ann@bücher.example", Mailbox("", "ann@xn--bcher-kva.example")),
        ("ann@Straße.de", Mailbox("", "ann@xn--strae-oqa.de")),
        ("ann@βόλος.com", Mailbox("", "ann@xn--nxasmm1c.com")),
        ("Ann (home) : x; <ann@example.org>", Mailbox("Ann (home) : x;", "ann@example.org")),
        (" ann+news@mail.example.org ", Mailbox("", "ann+news@mail.example.org")),
    ],
)
def test_a_mailbox_is_an_address_with_or_without_a_name(text: str, mailbox: Mailbox) -> None:
    assert Mailbox.parse(text) == mailbox


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann",
        "ann@",
        "@example.org",
        "ann@exa mple.org",
        "ann@example.org\r\nBcc: x@y.z",
        "Ann\n<ann@example.org>",
        "ann@example.org, bob@example.org",
        "<ann@example.org> bob",
        "ännchen@example.org",
        "ann..b@example.org",
        ".ann@example.org",
        "a@b@example.org",
        '"Ann <ann@example.org>',
        'Ann" <ann@example.org>',
        "ann@ex\u200dämple.org",
        "ann@\uff45xämple.org",
        "ann@exämple\u3002org",
        "ann@" + "a" * 64 + ".org",
        "a" * 250 + "@example.org",
    ],
)
def test_anything_else_is_no_mailbox(text: str) -> None:
    with pytest.raises(ValueError, match=r"address|domain"):
        Mailbox.parse(text)


def settings(**environ: str) -> Settings:
    return load_settings({}, {"HOME": "/nowhere", **environ}).settings


def test_both_settings_reach_the_connector() -> None:
    loaded = settings(
        ASSENT_SMTP_URL="smtps://u:p@mail.example.org", ASSENT_SMTP_FROM="Ann <ann@example.org>"
    )
    assert (loaded.smtp_url, loaded.smtp_from) == ("smtps://u:p@mail.example.org", "Ann <ann@example.org>")
    assert (settings().smtp_url, settings().smtp_from) == (None, None)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ASSENT_SMTP_URL", "smtp://u:hunter2@mail.example.org?tls=no"), ("ASSENT_SMTP_FROM", "Ann")],
)
def test_a_mistake_is_found_at_the_start(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        settings(**{name: value})
    assert name in str(refused.value) and "hunter2" not in str(refused.value)
