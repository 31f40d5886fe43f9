"""`assent workspace webhook-secret`, `webhook-hosts`, `webhooks` and `webhook-resend`."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent

from assent.app import open_app
from assent.engine.webhooks import webhooks
from assent.kernel.ids import RunId, WorkspaceId
from assent.settings.load import load_settings


def queued(data_dir: Path, workspace_id: str) -> str:
    """A delivery that a server would send."""

    async def make() -> str:
        settings = load_settings({"data_dir": str(data_dir)}, {"HOME": str(data_dir)}).settings
        async with open_app(settings) as app:
            now_ms = app.clock.now_ms()
            made = app.owner_services.new_id(now_ms), RunId(app.owner_services.new_id(now_ms))
            enqueue = partial(webhooks.enqueue, WorkspaceId(workspace_id), *made)
            await app.store.write(
                partial(enqueue, "launch_product.completed", "https://example.org/h?key=s3cret", {}, now_ms)
            )
            return made[0]

    return asyncio.run(make())


def test_the_secret_is_printed_alone_and_stays_until_it_is_rotated(assent: Assent) -> None:
    workspace_id = assent("workspace", "create", "acme", "--json").data["workspaceId"]

    first = assent("workspace", "webhook-secret", workspace_id, "--json")
    bare = assent("workspace", "webhook-secret", "acme")
    rotated = assent("workspace", "webhook-secret", workspace_id, "--rotate", "--json")
    after = assent("workspace", "webhook-secret", workspace_id, "--json")

    assert first.data["workspaceId"] == workspace_id
    assert first.data["secret"].startswith("whsec_")
    assert bare.out == first.data["secret"] + "\n"
    assert first.data["secret"] != rotated.data["secret"] == after.data["secret"]
    assert "whsec_" not in first.err + bare.err + rotated.err


def test_deliveries_are_listed_without_what_may_be_a_password(assent: Assent, data_dir: Path) -> None:
    workspace_id = assent("workspace", "create", "acme", "--json").data["workspaceId"]
    delivery_id = queued(data_dir, workspace_id)

    listed = assent("workspace", "webhooks", workspace_id, "--json")
    table = assent("workspace", "webhooks", "acme")

    [delivery] = listed.data["deliveries"]
    assert (delivery["deliveryId"], delivery["state"], delivery["tries"]) == (delivery_id, "waiting", [])
    assert delivery["url"] == "https://example.org/h?…"
    assert delivery_id in table.out
    assert "s3cret" not in listed.out + table.out


def test_only_what_has_ended_is_sent_again(assent: Assent, data_dir: Path) -> None:
    workspace_id = assent("workspace", "create", "acme", "--json").data["workspaceId"]
    delivery_id = queued(data_dir, workspace_id)

    waiting = assent("workspace", "webhook-resend", workspace_id, delivery_id)
    unknown = assent("workspace", "webhook-resend", workspace_id, workspace_id)

    assert (waiting.code, unknown.code) == (1, 1)
    assert "still being tried" in waiting.err
    assert "no delivery" in unknown.err


def test_a_secret_of_a_workspace_that_is_not_there_is_refused(assent: Assent) -> None:
    done = assent("workspace", "webhook-secret", "nobody", "--json")

    assert (done.code, done.out) == (1, "")


def test_the_hosts_of_webhooks_are_limited_shown_and_set_free_again(assent: Assent) -> None:
    workspace_id = assent("workspace", "create", "acme", "--json").data["workspaceId"]

    def said(*more: str) -> object:
        return assent("workspace", "webhook-hosts", "acme", *more, "--json").data

    assert said() == {"workspaceId": workspace_id, "hosts": None}
    named = {"workspaceId": workspace_id, "hosts": ["hooks.example.org", "other.example"]}
    assert said("Hooks.example.org", "other.example") == said() == named
    assert said("--none") == said() == {"workspaceId": workspace_id, "hosts": []}
    assert said("--any") == said() == {"workspaceId": workspace_id, "hosts": None}


@pytest.mark.parametrize(
    "wrong", ["https://hooks.example.org", "hooks.example.org/x", "a b", "a:80", "ä.example"]
)
def test_what_is_no_host_is_refused_and_changes_nothing(assent: Assent, wrong: str) -> None:
    assent("workspace", "create", "acme", "--json")
    refused = assent("workspace", "webhook-hosts", "acme", wrong)
    assert refused.code == 1
    assert "Name it alone" in refused.err
    assert assent("workspace", "webhook-hosts", "acme").out == "any public host\n"


def test_what_cannot_be_subscribed_is_refused_with_what_to_do(assent: Assent) -> None:
    assent("workspace", "create", "acme", "--json")

    def refused(*words: str) -> str:
        done = assent("workspace", *words)
        assert (done.code, done.out) == (1, "")
        return done.err

    assert "not public" in refused("webhook-subscribe", "acme", "https://10.0.0.1/hook")
    assert "at least one of these" in refused(
        "webhook-subscribe", "acme", "https://e.org/", "--event", "born"
    )
    made = assent("workspace", "webhook-subscribe", "acme", "https://example.org/h?key=s3cret").out.strip()
    assert "already" in refused("webhook-subscribe", "acme", "https://example.org/h?key=s3cret")
    assert "no subscription" in refused("webhook-unsubscribe", "acme", "nobody")
    assert "not a state" in refused("webhooks", "acme", "--state", "born")
    listed = assent("workspace", "webhook-subscriptions", "acme")
    assert made in listed.out and "s3cret" not in listed.out
