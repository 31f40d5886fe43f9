"""People are told that something needs them: once, briefly, and with a link that decides nothing."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from tests.support.review.kit import Server, forms, post

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import targets
from assent.engine.people.targets import TargetOwner
from assent.gate.webhooks import WebhookReply
from assent.ports import Notification, NotificationReceipt, NotifierContext, OutcomeUnknown
from assent.processes.serve import Surfaces

PLACE = TargetOwner(LOCAL_WORKSPACE)


class Posts:
    """What would have left the server."""

    def __init__(self, server: Server) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.answer = WebhookReply(200)
        self.replace_post(server, self.post)

    def replace_post(self, server: Server, post: Any) -> None:
        """Handed over once by the composition root; a test stands in for the network."""
        outgoing = dataclasses.replace(server.services.outgoing, post_webhook=post, send_note=self.mail)
        server.services = server.app.owner_services = dataclasses.replace(server.services, outgoing=outgoing)
        server.surfaces = Surfaces(server.app)
        server.site = server.surfaces.site()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookReply:
        self.sent.append((url, json.loads(body)))
        return self.answer

    async def mail(self, to: str, subject: str, text: str, key: str) -> None:
        self.sent.append((to, {"subject": subject, "text": text}))


async def told_at(server: Server, kind: str, address: str) -> None:
    await server.app.prepare()
    await targets.add(server.services, PLACE, server.services.notifiers[kind], address, by="Ada")


async def test_mail_slack_and_push_are_told_what_kind_of_thing_waits_and_never_what_it_says(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    posts = Posts(server)
    await told_at(server, "email", "ada@example.org")
    await told_at(server, "slack", "https://hooks.example/services/T0/B0/secret")
    await told_at(server, "ntfy", "https://push.example/sub/topic-1")
    run = await server.stage(post(body="The text that nobody may read in a note."), post("x"))

    await server.run_jobs()

    link = f"{server.base_url}/runs/{run.run_id}"
    by_place = dict(posts.sent)
    assert set(by_place) == {
        "ada@example.org",
        "https://hooks.example/services/T0/B0/secret",
        "https://push.example/sub/",
    }
    assert by_place["https://push.example/sub/"]["topic"] == "topic-1"
    assert by_place["https://push.example/sub/"]["click"] == link
    for said in by_place.values():
        text = json.dumps(said)
        assert "2 drafts in local wait for you: LinkedIn post (medium risk), X post (medium risk)." in text
        assert link in text
        assert "token=" not in text
        assert "nobody may read" not in text
    posts.sent.clear()
    await server.run_jobs()
    assert posts.sent == []


async def test_nobody_is_told_about_what_was_decided_meanwhile(server: Server) -> None:
    posts = Posts(server)
    await told_at(server, "email", "ada@example.org")
    run = await server.stage(post())
    await server.decide(await server.opened(run), run.run_id, run.actions[0].id, "reject", reason="No.")

    await server.run_jobs()

    assert posts.sent == []


async def test_an_unknown_outcome_is_told_and_what_did_not_get_through_is_tried_again(server: Server) -> None:
    posts = Posts(server)
    run = await server.stage(post())
    await told_at(server, "slack", "https://hooks.example/x")
    browser = await server.opened(run)

    def silence(action: object) -> Any:
        raise OutcomeUnknown("lost")

    server.provider.then = silence
    posts.answer = WebhookReply(503)
    await server.decide(browser, run.run_id, run.actions[0].id, "approve", then="send")
    await server.run_jobs()
    await server.run_jobs()
    [target] = await server.app.store.read(lambda: targets.list_targets(PLACE))
    assert target.problem == "it answered 503"
    posts.answer = WebhookReply(200)
    server.clock.advance(hours=1)
    await server.run_jobs()

    assert len(posts.sent) == 2
    assert "Did this go out?" in posts.sent[-1][1]["text"]
    [target] = await server.app.store.read(lambda: targets.list_targets(PLACE))
    assert target.problem is None


async def test_where_people_are_told_is_kept_sealed_and_shown_without_its_secret(server: Server) -> None:
    owner = await server.owner()
    page = (await owner.get("/settings/notifications")).text
    form = next(each for each in forms(page) if each.address == "/settings/notifications")
    secret = "https://hooks.slack.example/services/T000/B000/very-secret-part"
    data = {"nonce": form.fields["nonce"], "kind": "slack", "address": secret}

    answer = await owner.post("/settings/notifications", data=data)

    assert answer.status_code == 303, answer.text
    page = (await owner.get("/settings/notifications")).text
    assert "https://hooks.slack.example/…" in page
    assert "very-secret-part" not in page
    assert "very-secret-part" not in repr(await server.everything())
    for kind, wrong in (
        ("email", "no address"),
        ("slack", "http://127.0.0.1/x"),
        ("ntfy", "https://ntfy.example"),
        ("fax", "1"),
    ):
        data = {"nonce": form.fields["nonce"], "kind": kind, "address": wrong}
        assert (await owner.post("/settings/notifications", data=data)).status_code == 400, kind


class Pager:
    """A notifier that no part of the server knows."""

    kind = "pager"
    label = "Pager"
    hint = "A number of four digits"
    by_mail = False
    by_browser = False

    def __init__(self, error: Exception | None = None) -> None:
        self.sent: list[tuple[str, str]] = []
        self.error = error

    def check(self, ctx: NotifierContext, address: str) -> str:
        return "" if address.isdigit() and len(address) == 4 else "Enter four digits."

    def mask(self, address: str) -> str:
        return f"{address[:1]}…"

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        if self.error is not None:
            raise self.error
        self.sent.append((address, note.text))
        return NotificationReceipt()


def register(server: Server, *notifiers: Pager) -> None:
    replaced = dataclasses.replace(server.services, make_notifiers=lambda: notifiers)
    server.app.owner_services = server.services = replaced
    server.surfaces = Surfaces(server.app)
    server.site = server.surfaces.site()


async def test_a_registered_notifier_is_offered_checked_masked_and_used(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    pager = Pager()
    register(server, pager)
    owner = await server.owner()
    page = (await owner.get("/settings/notifications")).text
    assert "<strong>Pager.</strong> A number of four digits" in page
    assert "ntfy" not in page
    form = next(each for each in forms(page) if each.address == "/settings/notifications")
    data = {"nonce": form.fields["nonce"], "kind": "pager", "address": "12"}
    refused = await owner.post("/settings/notifications", data=data)
    assert refused.status_code == 400 and "Enter four digits." in refused.text

    assert (await owner.post("/settings/notifications", data=data | {"address": "1234"})).status_code == 303
    await server.stage(post())
    await server.run_jobs()

    assert pager.sent == [("1234", "One draft in local waits for you: LinkedIn post (medium risk).")]
    page = (await owner.get("/settings/notifications")).text
    assert "<bdi>1…</bdi>" in page and "1234" not in page


async def test_an_exception_of_a_notifier_is_named_without_its_words_and_tried_again(server: Server) -> None:
    pager = Pager(ValueError("1234 is unknown"))
    register(server, pager)
    await told_at(server, "pager", "1234")
    await server.stage(post())

    await server.run_jobs()

    [target] = await server.app.store.read(lambda: targets.list_targets(PLACE))
    assert target.problem == "Pager failed (ValueError)"
    pager.error = None
    server.clock.advance(hours=1)
    await server.run_jobs()
    assert len(pager.sent) == 1


async def test_a_target_whose_notifier_is_gone_is_shown_and_can_be_removed(server: Server) -> None:
    register(server, Pager())
    await told_at(server, "pager", "1234")
    register(server)
    await server.stage(post())

    await server.run_jobs()

    owner = await server.owner()
    page = (await owner.get("/settings/notifications")).text
    assert "Not available any more" in page
    assert "this server has no notifier" in page
    form = next(each for each in forms(page) if each.address.endswith("/remove"))
    assert (await owner.post(form.address, data=form.fields)).status_code == 303
    assert await server.app.store.read(lambda: targets.list_targets(PLACE)) == ()
