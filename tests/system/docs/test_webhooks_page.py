"""The page about webhooks: its commands work as printed, its tables name everything that is posted."""

from __future__ import annotations

import json

from tests.support.cli.fixtures import Assent, assent, bare_environment, data_dir  # noqa: F401 - fixtures
from tests.support.docs.pages import DOCS, block_of, blocks_of

from assent.gate import webhooks as deliveries
from assent.gate.webhooks import EVENTS, TEST_EVENT, ActionEvent, EventAction
from assent.kernel.limits import MAX_QUEUED_EVENTS, MAX_SUBSCRIPTIONS

PAGE = "webhooks.md"


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["json", "sh", "json", "python", "python"]


def test_the_page_names_every_event_field_and_limit_and_its_example_is_one() -> None:
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    fields = [name for name in ActionEvent.__struct_encode_fields__ if name != "action"]
    fields += [f"action.{name}" for name in EventAction.__struct_encode_fields__]
    names = [*fields, *(f"action.{name}" for name in EVENTS), TEST_EVENT]
    assert [name for name in names if f"`{name}`" not in page] == []
    assert f"at most {MAX_SUBSCRIPTIONS} subscriptions" in page
    assert f"At most {MAX_QUEUED_EVENTS} deliveries" in page
    example = json.loads(block_of(PAGE, "json", 1))
    assert set(example) <= set(ActionEvent.__struct_encode_fields__)
    assert set(example["action"]) <= set(EventAction.__struct_encode_fields__)
    result = json.loads(block_of(PAGE, "json", 0).replace('{ "…"', '{"a"'))
    assert set(json.loads(deliveries.message("x", "y", {}))) == set(result)


def test_the_functions_of_the_page_accept_our_signatures_and_no_other() -> None:
    known: dict[str, object] = {}
    for position in (0, 1):
        exec(block_of(PAGE, "python", position), known)  # noqa: S102 - our own page
    secret, body = deliveries.secret_text(bytes(32)), b'{"type": "webhook.test"}'
    headers = deliveries.headers(secret, "01a0", 1_790_000_000_000, body)
    is_ours, is_standard = known["is_ours"], known["is_standard"]
    assert callable(is_ours) and callable(is_standard)
    for text, expected in ((body, True), (body + b" ", False)):
        assert is_ours(secret, text, headers["X-ChiefLab-Signature"]) is expected
        assert is_standard(secret, text, headers) is expected


def test_the_commands_of_the_page_work_in_their_order(assent: Assent) -> None:  # noqa: F811
    assent("init")
    said: list[str] = []
    for line in block_of(PAGE, "sh").splitlines():
        command, *words = [said[0] if word == "SUBSCRIPTION" else word for word in line.split()]
        assert command == "assent"
        done = assent(*words, "--json")
        assert done.code == 0, done.err
        if "webhook-subscribe" in words and not said:
            said.append(done.data["subscriptionId"])
        if "webhook-subscriptions" in words:
            first, second = done.data["subscriptions"]
            assert (first["state"], first["events"]) == ("on", list(EVENTS))
            assert second["events"] == ["failed", "unknown"]
    assert len(assent("workspace", "webhook-subscriptions", "local", "--json").data["subscriptions"]) == 1
