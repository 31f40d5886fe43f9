"""Telegram: a message of the bot that is edited once someone has decided."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.notify.telegram_server import CHAT, TOKEN, Telegram
from tests.support.review.kit import Server, post
from tests.support.sqlite_files import new_sqlite

from assent.engine.people import targets
from assent.engine.people.people import OWNER
from assent_conform.testing.ledger import Ledger

ADDRESS = f"{TOKEN} {CHAT}"


@pytest.fixture
async def telegram(tmp_path: Path) -> AsyncIterator[Telegram]:
    server = Telegram(Ledger(tmp_path / "ledger"))
    async with server.serving():
        yield server


@pytest.fixture
async def server(tmp_path: Path, telegram: Telegram) -> AsyncIterator[Server]:
    made = Server(
        new_sqlite(tmp_path / "assent.db"),
        tmp_path,
        telegram_url=telegram.url,
        allow_hosts=("127.0.0.1",),
    )
    await made.app.prepare()
    yield made
    await made.close()


async def told_by_telegram(server: Server, address: str = ADDRESS) -> str:
    await server.owner(name="Ada")
    notifier = server.services.notifiers["telegram"]
    return await targets.add(server.services, targets.of_person(OWNER), notifier, address, by="Ada")


async def test_a_message_is_sent_and_becomes_who_approved_it_and_when(
    server: Server, telegram: Telegram
) -> None:
    await told_by_telegram(server)
    run = await server.stage(post(body="The text that nobody may read in a note."))
    await server.run_jobs()
    assert telegram.messages[1]["chat_id"] == CHAT
    assert telegram.messages[1]["link_preview_options"] == {"is_disabled": True}
    assert telegram.messages[1]["disable_notification"] is False
    link = f"{server.base_url}/runs/{run.run_id}"
    assert telegram.messages[1]["text"] == (
        "Something waits for your decision\n"
        f"One draft in local waits for you: LinkedIn post (medium risk).\n{link}"
    )

    await server.decide(await server.owner(), run.run_id, run.actions[0].id, "approve")
    server.clock.advance(seconds=10)
    await server.run_jobs()

    assert [each.key for each in telegram.ledger.effects()] == ["send", "edit"]
    assert len(telegram.messages) == 1
    title, line, ended = telegram.messages[1]["text"].split("\n")
    assert title == "Approved in local"
    assert line.startswith("LinkedIn post: approved by Ada at ") and line.endswith(" UTC.")
    assert ended == link


async def test_a_message_that_is_gone_is_followed_by_another(server: Server, telegram: Telegram) -> None:
    await told_by_telegram(server)
    run = await server.stage(post())
    await server.run_jobs()
    telegram.messages.clear()

    await server.decide(
        await server.owner(), run.run_id, run.actions[0].id, "reject", reason="Secret reason."
    )
    server.clock.advance(seconds=10)
    await server.run_jobs()

    assert [each.key for each in telegram.ledger.effects()] == ["send", "send"]
    assert "rejected by Ada at " in telegram.messages[1]["text"]
    assert "Secret reason" not in telegram.messages[1]["text"]


async def test_a_wrong_token_is_named_without_the_token(server: Server, telegram: Telegram) -> None:
    await told_by_telegram(server, f"{TOKEN[:-1]}X {CHAT}")
    await server.stage(post())

    await server.run_jobs()

    [target] = await server.app.store.read(lambda: targets.list_targets(targets.of_person(OWNER)))
    assert target.problem == "Telegram answered 401: Unauthorized"
    assert target.shown == "bot 123456789, chat …321"
    assert TOKEN[10:-1] not in repr(await server.everything())


async def test_an_address_without_token_or_chat_is_refused(server: Server, telegram: Telegram) -> None:
    notifier, outgoing = server.services.notifiers["telegram"], server.services.outgoing
    assert notifier.check(outgoing, ADDRESS) == ""
    for wrong in (
        "",
        TOKEN,
        CHAT,
        f"{TOKEN}/x {CHAT}",
        f"{TOKEN} {CHAT} more",
        f"{TOKEN} http://x",
        f"{TOKEN}\n{CHAT}",
    ):
        assert "BotFather" in notifier.check(outgoing, wrong), wrong
