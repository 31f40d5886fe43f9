"""A mail server through the page: tried out before it is kept, sealed, and used by every process on the same data."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import AuthResult
from tests.support.connections.console import WHERE, Console, open_console
from tests.support.connectors import mail_server as servers
from tests.support.connectors.kit import engine_with
from tests.support.connectors.mail_server import PASSWORD, USER, Inbox, mail_server
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import API_KEY, NewConnection, OpenedSecrets
from assent.kernel.refusals import Reason, Refusal
from assent.net.mail_server import MailServer
from assent.ports import NotSent
from assent.present.outlook import Executed
from assent_conform.testing.operator import Wanted
from assent_launch.channels.email.smtp import SmtpConnector

SENDER = "Ann <ann@shop.example>"
MAIL = Wanted(
    connector="smtp", channel="email", verb="email", subject="Hi", recipients=("grace@example.org",)
)


class Post:
    """A mail server, and a form that names it."""

    def __init__(self, inbox: Inbox, port: int) -> None:
        self.inbox = inbox
        self.form = {
            "from": SENDER,
            "host": "127.0.0.1",
            "port": str(port),
            "encryption": "none",
            "user": USER,
            "password": PASSWORD,
        }


@pytest.fixture
async def post() -> AsyncIterator[Post]:
    inbox = Inbox()
    async with mail_server(inbox, auth=True) as port:
        yield Post(inbox, port)


@pytest.fixture
async def at_home(tmp_path: Path) -> AsyncIterator[Console]:
    """Where the person who runs the server allows its own network."""
    allowed: Any = ("127.0.0.1",)
    async with open_console(new_sqlite(tmp_path / "assent.db"), tmp_path, allow_hosts=allowed) as made:
        yield made


async def test_a_mail_server_is_tried_out_kept_and_used_by_another_process(
    at_home: Console, post: Post, tmp_path: Path, whole_log: io.StringIO
) -> None:
    listed = await at_home.browser.get("/connect")
    assert "/connect/smtp?" in listed.text
    answer = await at_home.press("smtp", "mail", **post.form)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/connect/smtp{WHERE}&did=connected")
    page = await at_home.browser.get(f"/connect/smtp{WHERE}")
    assert "ann at 127.0.0.1" in page.text and 'value="127.0.0.1"' in page.text
    assert post.inbox.taken == []

    async with engine_with(
        f"sqlite:///{tmp_path / 'assent.db'}", tmp_path, allow_hosts=("127.0.0.1",)
    ) as other:
        action_id = await other.approved(MAIL)
        action = await other.action(action_id)
        assert (action.effect.sender, (action.effect.target or {})["name"]) == (SENDER, "ann at 127.0.0.1")
        assert isinstance(await other.execute(action_id), Executed)
    assert post.inbox.message()["From"] == SENDER

    rows = repr(await at_home.server.everything())
    for text in (listed.text, page.text, rows, whole_log.getvalue()):
        assert PASSWORD not in text and "p%40ss" not in text


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"password": "wrong"}, "host"),
        ({"password": ""}, "password"),
        ({"host": "smtp://127.0.0.1"}, "host"),
        ({"host": ""}, "host"),
        ({"port": "0"}, "port"),
        ({"port": "smtp"}, "port"),
        ({"encryption": "rot13"}, "encryption"),
        ({"encryption": "starttls"}, "host"),
        ({"from": "Ann"}, "from"),
        ({"from": "Ann <ann@shop.example>\r\nBcc: eve@example.org"}, "from"),
    ],
)
async def test_what_does_not_work_is_not_kept_and_says_where(
    at_home: Console, post: Post, changes: dict[str, str], field: str
) -> None:
    answer = await at_home.press("smtp", "mail", **{**post.form, **changes})
    assert answer.status_code == 400
    assert 'class="wrong"' in answer.text.partition(f'for="{field}"')[2].partition("</div>")[0]
    assert PASSWORD not in answer.text and "wrong&#34;" not in answer.text
    assert await at_home.connection("smtp") is None


async def test_a_page_reaches_no_mail_server_of_a_private_network(console: Console, post: Post) -> None:
    answer = await console.press("smtp", "mail", **post.form)
    assert answer.status_code == 400 and "not public" in answer.text
    assert await console.connection("smtp") is None


async def test_what_a_workspace_connected_before_an_address_became_forbidden_is_not_reached(
    at_home: Console, post: Post, tmp_path: Path
) -> None:
    await at_home.press("smtp", "mail", **post.form)
    async with engine_with(f"sqlite:///{tmp_path / 'assent.db'}", tmp_path) as other:
        reply = await other.execute(await other.approved(MAIL))
    assert isinstance(reply, Refusal) and reply.reason is Reason.MISSING_CONNECTOR
    assert post.inbox.taken == []


async def test_a_password_that_does_not_count_any_more_ends_the_connection(
    at_home: Console, post: Post, tmp_path: Path
) -> None:
    await at_home.press("smtp", "mail", **post.form)
    connections = at_home.server.app.connections
    found = await connections.find(LOCAL_WORKSPACE, "smtp")
    assert found is not None
    old = OpenedSecrets({API_KEY: f"smtp://{USER}:old@127.0.0.1:{post.form['port']}"})
    await connections.save(
        LOCAL_WORKSPACE,
        "smtp",
        NewConnection(label=found.label, secrets=old, accounts=found.accounts, settings=found.settings),
        by="Ada",
    )
    async with engine_with(
        f"sqlite:///{tmp_path / 'assent.db'}", tmp_path, allow_hosts=("127.0.0.1",)
    ) as other:
        action_id = await other.approved(MAIL)
        reply = await other.execute(action_id)
        assert isinstance(reply, Refusal) and reply.reason is Reason.MISSING_CONNECTOR
        ended = await connections.find(LOCAL_WORKSPACE, "smtp")
        assert ended is not None and ended.state == "expired"
        # With the right password it is the same account: the approval holds.
        assert (await at_home.press("smtp", "mail", **post.form)).status_code == 303
        assert isinstance(await other.execute(action_id), Executed)


async def test_a_login_that_failed_once_is_tried_again_by_the_next_send(
    at_home: Console, post: Post, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await at_home.press("smtp", "mail", **post.form)
    async with engine_with(
        f"sqlite:///{tmp_path / 'assent.db'}", tmp_path, allow_hosts=("127.0.0.1",)
    ) as other:
        action_id = await other.approved(MAIL)
        with monkeypatch.context() as bad_minute:
            refuse = AuthResult(success=False, handled=False)
            bad_minute.setattr(servers, "_authenticate", lambda *given: refuse)
            reply = await other.execute(action_id)
        assert isinstance(reply, Refusal) and reply.reason is Reason.MISSING_CONNECTOR
        assert isinstance(await other.execute(action_id), Executed)
    found = await at_home.server.app.connections.find(LOCAL_WORKSPACE, "smtp")
    assert found is not None and found.live and len(post.inbox.taken) == 1


async def test_disconnecting_destroys_the_password(at_home: Console, post: Post) -> None:
    await at_home.press("smtp", "mail", **post.form)
    assert (await at_home.press("smtp", "disconnect")).status_code == 303
    assert await at_home.server.app.connections.access(LOCAL_WORKSPACE, "smtp") is None
    assert not [row for row in (await at_home.server.everything())["vault_secrets"] if "smtp" in row]


async def test_a_name_that_cannot_be_looked_up_in_time_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(server: MailServer) -> MailServer:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr("assent_launch.channels.email.smtp.REACH_SECONDS", 0.01)
    connector = SmtpConnector(None, None, ManualClock(), reach=never)
    with pytest.raises(NotSent) as refused:
        await connector.verify("smtp://mail.example.org", 5.0)
    assert (refused.value.reason, refused.value.curable) == (Reason.CONNECTOR_FAILED, True)
