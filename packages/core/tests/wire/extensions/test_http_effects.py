"""A section of the settings file behind the gate: staged, approved, sent once, signed, read back."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, Gate
from tests.support.answers import text_of
from tests.support.extensions.fixtures import gate_with
from tests.support.extensions.http_section import section
from tests.support.net.stub_server import Answer, StubServer, closed_port, redirect, stub_server
from tests.support.surfaces import signed_in

from assent.engine.connections import named_secrets
from assent.engine.webhooks.webhooks import signing_secret
from assent.gate.records import Assurance
from assent.serving.web.review.problems import describe

TOOL = "refund_request"
SECRET = "sk_live_not-for-anyone"
WANTED = {"customer": "cus ü1", "amount": "12.50 EUR"}
JSON = {"Content-Type": "application/json"}


PATH = "/customers/cus%20%C3%BC1/refunds"


def reply(value: Any, status: int = 201) -> Answer:
    return Answer(status=status, body=json.dumps(value).encode(), headers=JSON)


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with stub_server() as made:
        made.answers[PATH] = reply({"id": "re_1", "links": {"page": "https://billing.example/re_1"}})
        yield made


@pytest.fixture
async def surface(
    transport: str, database_url: str, tmp_path: Path, changed_settings: dict[str, Any], stub: StubServer
) -> AsyncIterator[Gate]:
    async with signed_in(
        gate_with(
            (),
            database_url,
            tmp_path,
            transport,
            effects={"refund": section(stub.url(), **changed_settings)},
            allow_hosts=("127.0.0.1",),
        )
    ) as gate:
        yield gate


async def store_secret(surface: Gate, value: str = SECRET) -> None:
    app = surface.app
    await app.store.write(
        partial(
            named_secrets.put_secret,
            app.vault,
            surface.workspace_id,
            "billing",
            value,
            app.vault.seal(1),
            surface.clock.now_ms(),
            by="test",
        )
    )


async def approve(surface: Gate, **arguments: Any) -> str:
    """Stage a refund and approve it as a person."""
    answer = await surface.done(TOOL, **{**WANTED, **arguments})
    action_id: str = answer["actions"][0]["id"]
    await surface.approve_as(Assurance.PERSON, action_id)
    return action_id


async def test_a_request_is_sent_once_with_the_approved_arguments_and_both_signatures(
    surface: Gate, stub: StubServer
) -> None:
    await store_secret(surface)
    staged = await surface.done(TOOL, **WANTED)
    (action,) = staged["actions"]
    assert (action["type"], action["preflight"]["severity"]) == ("refund_request", "high")
    stored = await surface.stored(action["id"])
    assert stored.view.title == "Refund 12.50 EUR to cus ü1"
    assert stored.effect.target == {"accountId": f"POST {stub.url()}{PATH.removeprefix('/')}"}
    assert (await surface.denied(APPROVE, actionId=action["id"]))["reason"] == "requires_approval"
    assert stub.asked == []

    await surface.approve_as(Assurance.PERSON, action["id"])
    done = await surface.done(EXECUTE, actionId=action["id"], idempotencyKey="pay")
    assert (done["externalId"], done["externalUrl"]) == ("re_1", "https://billing.example/re_1")
    assert done["output"]["id"] == "re_1"
    assert await surface.done(EXECUTE, actionId=action["id"], idempotencyKey="pay") == {**done}

    (asked,) = stub.asked
    assert (asked.method, asked.path) == ("POST", PATH)
    assert json.loads(asked.body) == WANTED
    assert asked.headers["authorization"] == f"Bearer {SECRET}"
    assert asked.headers["assent-action-id"] == action["id"]
    assert asked.headers["webhook-id"] == f"{action['id']}:1"
    secret = await signing_secret(surface.app.owner_services, surface.workspace_id)
    plain = hmac.digest(secret.encode(), asked.body, hashlib.sha256).hex()
    assert asked.headers["x-chieflab-signature"] == f"sha256={plain}"
    signed = ".".join((asked.headers["webhook-id"], asked.headers["webhook-timestamp"], asked.body.decode()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = base64.b64encode(hmac.digest(key, signed.encode(), hashlib.sha256)).decode()
    assert asked.headers["webhook-signature"] == f"v1,{digest}"


async def test_without_its_secret_it_is_staged_and_not_sent_and_a_person_is_told_what_to_do(
    surface: Gate, stub: StubServer
) -> None:
    action_id = await approve(surface)
    refused = await surface.denied(EXECUTE, actionId=action_id)
    assert refused["reason"] == "missing_connector"
    assert "assent secret set billing" in json.dumps(refused)
    await store_secret(surface)
    assert (await surface.done(EXECUTE, actionId=action_id))["externalId"] == "re_1"
    assert len(stub.asked) == 1


async def test_an_answer_that_repeats_the_secret_does_not_show_it(surface: Gate, stub: StubServer) -> None:
    await store_secret(surface)
    stub.answers[PATH] = reply({"id": "re_1", "echo": [f"Bearer {SECRET}"], SECRET: 1})
    done = await surface.done(EXECUTE, actionId=await approve(surface))
    assert done["output"]["echo"] == ["Bearer [redacted]"]
    assert SECRET not in json.dumps(await surface.record(done["actionId"]))


@pytest.mark.parametrize(
    ("answer", "reason", "state"),
    [
        (reply({"error": {"message": "no such customer"}}, 404), "connector_failed", "failed"),
        (reply({}, 422), "connector_failed", "failed"),
        (reply({}, 401), "missing_connector", "retryable"),
        (reply({}, 429), "rate_limited", "retryable"),
        (reply({}, 500), "outcome_unknown", "outcome_unknown"),
        (reply({}, 409), "outcome_unknown", "outcome_unknown"),
        (reply({"paid": True}, 200), "outcome_unknown", "outcome_unknown"),
        (Answer(status=200, body=b"<html>", headers=JSON), "outcome_unknown", "outcome_unknown"),
        (redirect("/elsewhere"), "outcome_unknown", "outcome_unknown"),
        (Answer(stall=True), "outcome_unknown", "outcome_unknown"),
    ],
)
async def test_the_status_of_the_answer_says_what_is_known(
    surface: Gate, stub: StubServer, answer: Answer, reason: str, state: str
) -> None:
    await store_secret(surface)
    stub.answers[PATH] = answer
    action_id = await approve(surface)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == reason
    assert await surface.where(action_id) == state
    assert [asked.path for asked in stub.asked] == [PATH]


@pytest.mark.parametrize("changed_settings", [{"url": f"http://127.0.0.1:{closed_port()}/refunds"}])
async def test_without_a_connection_nothing_was_sent_and_the_approval_still_holds(
    surface: Gate, stub: StubServer
) -> None:
    await store_secret(surface)
    action_id = await approve(surface)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "connector_failed"
    assert await surface.where(action_id) == "retryable"


@pytest.mark.parametrize(
    "changed_settings",
    [{"idempotency_header": "Idempotency-Key", "idempotency_hours": 24}],
)
async def test_with_an_idempotency_header_an_unknown_outcome_is_sent_again_under_the_same_key(
    surface: Gate, stub: StubServer
) -> None:
    await store_secret(surface)
    stub.answers[PATH] = reply({}, 503)
    action_id = await approve(surface)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "outcome_unknown"
    stub.answers[PATH] = reply({"id": "re_1"})
    surface.clock.advance(seconds=5)
    await surface.run_jobs()
    assert (await surface.record(action_id))["externalId"] == "re_1"
    assert [asked.headers["idempotency-key"] for asked in stub.asked] == [f"{action_id}:1"] * 2


BACK = {"url": "http://127.0.0.1:1/back", "proof": "data.0.id", "settle_seconds": 60}


@pytest.fixture
async def reading(transport: str, database_url: str, tmp_path: Path, stub: StubServer) -> AsyncIterator[Gate]:
    """A server whose refunds can be read back."""
    back = {**BACK, "url": f"{stub.url()}back?key={{action.key}}"}
    effects = {"refund": section(stub.url(), read_back=back)}
    async with signed_in(
        gate_with((), database_url, tmp_path, transport, effects=effects, allow_hosts=("127.0.0.1",))
    ) as gate:
        await store_secret(gate)
        stub.answers[PATH] = reply({}, 503)
        yield gate


def back_path(action_id: str) -> str:
    return f"/back?key={action_id}%3A1"


async def test_an_unknown_outcome_is_read_back_and_its_proof_counts(reading: Gate, stub: StubServer) -> None:
    action_id = await approve(reading)
    stub.answers[back_path(action_id)] = reply({"data": [{"id": 77}]}, 200)
    assert (await reading.denied(EXECUTE, actionId=action_id))["reason"] == "outcome_unknown"
    reading.clock.advance(seconds=5)
    await reading.run_jobs()
    assert (await reading.record(action_id))["externalId"] == "77"
    assert [asked.method for asked in stub.asked] == ["POST", "GET"]
    assert stub.asked[1].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("absent", [reply({"data": []}, 200), reply({}, 404)])
async def test_a_missing_proof_counts_only_after_the_request_must_have_arrived(
    reading: Gate, stub: StubServer, absent: Answer
) -> None:
    action_id = await approve(reading)
    stub.answers[back_path(action_id)] = absent
    await reading.denied(EXECUTE, actionId=action_id)
    reading.clock.advance(seconds=5)
    await reading.run_jobs()
    assert await reading.where(action_id) == "outcome_unknown"
    reading.clock.advance(hours=2)
    await reading.run_jobs()
    assert await reading.where(action_id) == "retryable"


async def test_an_address_that_cannot_read_back_leaves_the_outcome_unknown(
    reading: Gate, stub: StubServer
) -> None:
    action_id = await approve(reading)
    stub.answers[back_path(action_id)] = reply({}, 500)
    await reading.denied(EXECUTE, actionId=action_id)
    reading.clock.advance(hours=2)
    await reading.run_jobs()
    assert await reading.where(action_id) == "outcome_unknown"


async def test_an_edited_argument_changes_the_address_and_the_body(surface: Gate, stub: StubServer) -> None:
    await store_secret(surface)
    answer = await surface.done(TOOL, **WANTED)
    action_id = answer["actions"][0]["id"]
    stub.answers["/customers/cus2/refunds"] = reply({"id": "re_2"})
    edited = await surface.done(EDIT, actionId=action_id, arguments={"customer": "cus2"})
    assert f"POST {stub.url()}customers/cus2/refunds" in text_of(edited)
    await surface.approve_as(Assurance.PERSON, action_id)
    assert (await surface.done(EXECUTE, actionId=action_id))["externalId"] == "re_2"
    assert json.loads(stub.asked[0].body) == {**WANTED, "customer": "cus2"}


async def test_the_page_shows_the_address_and_every_argument_and_asks_for_the_required_ones(
    surface: Gate, stub: StubServer
) -> None:
    prepared = await surface.done(TOOL, **WANTED, note="By <b>mail</b>.")
    link = urlsplit(prepared["reviewUrl"])
    page = (await surface.http.get(f"{link.path}?{link.query}", follow_redirects=True)).text
    for shown in (
        "Refund 12.50 EUR to cus ü1",
        "cus ü1",
        "12.50 EUR",
        "By &lt;b&gt;mail&lt;/b&gt;.",
        f"POST {stub.url()}{PATH.removeprefix('/')}",
    ):
        assert shown in page
    labels = re.findall(r"<label for=.edit-arguments[^>]*>(.*?)</label>", page)
    assert [("optional" in label) for label in labels] == [False, False, True]


async def test_after_a_change_of_the_address_a_person_approves_again(
    surface: Gate, stub: StubServer, tmp_path: Path
) -> None:
    await store_secret(surface)
    action_id = await approve(surface)
    (effect,) = surface.app.extensions.effects
    connector: Any = surface.app.owner_services.connectors[effect.tool]
    connector._request = msgspec.structs.replace(connector._request, url=f"{stub.url()}other")
    refused = await surface.denied(EXECUTE, actionId=action_id)
    assert refused["reason"] == "requires_approval"
    assert stub.asked == []
    await surface.approve_as(Assurance.PERSON, action_id)
    stub.answers["/other"] = reply({"id": "re_3"})
    assert (await surface.done(EXECUTE, actionId=action_id))["externalId"] == "re_3"


@pytest.mark.parametrize("changed_settings", [{"headers": {"ACCEPT": "application/vnd.billing+json"}}])
async def test_a_declared_header_replaces_the_usual_one(surface: Gate, stub: StubServer) -> None:
    await surface.done(EXECUTE, actionId=await approve(surface))
    assert stub.asked[0].headers["accept"] == "application/vnd.billing+json"


async def test_an_answer_of_half_a_megabyte_still_proves_the_effect(surface: Gate, stub: StubServer) -> None:
    await store_secret(surface)
    stub.answers[PATH] = reply({"filler": "x" * 500_000, "id": "re_9"})
    done = await surface.done(EXECUTE, actionId=await approve(surface))
    assert (done["externalId"], "output" in done) == ("re_9", False)


@pytest.mark.parametrize(
    "changed_settings",
    [
        {
            "arguments": {
                "type": "object",
                "properties": {"customer": {"type": "string"}, "amount": {"type": "string"}},
            }
        }
    ],
)
async def test_an_argument_that_makes_the_address_too_long_is_not_staged(surface: Gate) -> None:
    refused = await surface.denied(TOOL, **{**WANTED, "customer": "ü" * 400})
    assert [problem["path"] for problem in refused["problems"]] == ["customer"]


DIVIDES = ["../admin", "a/b", "\\..\\x", "..%2Fadmin", "%2e%2e", "a\r\nb", "a\tb", "a\x7f", "a\x85b"]
LEAVES = ["..", ".", "", *DIVIDES]


async def test_an_argument_that_would_leave_its_place_in_the_address_is_not_staged(
    surface: Gate, stub: StubServer
) -> None:
    staged = await surface.done(TOOL, **WANTED)
    action_id = staged["actions"][0]["id"]
    for customer in LEAVES:
        refused = await surface.denied(TOOL, **{**WANTED, "customer": customer})
        assert refused["reason"] == "validation_error", customer
        (problem,) = refused["problems"]
        assert problem["path"] == "customer" and "pattern" in problem["expected"]
        edited = await surface.denied(EDIT, actionId=action_id, arguments={"customer": customer})
        assert edited["reason"] == "validation_error", customer
    assert staged["actions"][0]["digest"] in (await surface.record(action_id))["digest"]


def with_customer(**schema: Any) -> dict[str, Any]:
    """A change of the settings: another schema of the customer."""
    properties = {"customer": {"type": "string", **schema}, "amount": {"type": "string", "format": "money"}}
    return {"arguments": {"type": "object", "properties": properties, "required": ["customer"]}}


@pytest.mark.parametrize(
    ("changed_settings", "customer"),
    [
        (with_customer(pattern="^[a-z]+/[a-z]+$"), "eu/cus"),
        (with_customer(pattern="[a-z/]+"), "eu/cus"),
        (with_customer(pattern=".*"), "../cus%2f"),
        (with_customer(enum=["eu/cus", "us/cus"]), "eu/cus"),
    ],
)
async def test_a_pattern_that_matches_the_whole_value_permits_it_and_it_is_sent_encoded(
    surface: Gate, stub: StubServer, customer: str
) -> None:
    await store_secret(surface)
    path = f"/customers/{quote(customer, safe='')}/refunds"
    stub.answers[path] = reply({"id": "re_1"})
    await surface.done(EXECUTE, actionId=await approve(surface, customer=customer))
    assert [asked.path for asked in stub.asked] == [path]


@pytest.mark.parametrize("changed_settings", [with_customer(pattern="^cus"), with_customer(pattern="cus$|s")])
async def test_a_pattern_that_matches_a_part_of_the_value_permits_nothing(surface: Gate) -> None:
    for customer in ("cus/../admin", "cus\n", "cus%2F.."):
        refused = await surface.denied(TOOL, **{**WANTED, "customer": customer})
        assert [problem["path"] for problem in refused["problems"]] == ["customer"]


async def test_after_the_question_mark_any_value_is_sent_encoded(
    transport: str, database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    effects = {"refund": section(stub.url(), url=f"{stub.url()}refunds?customer={{customer}}")}
    async with signed_in(
        gate_with((), database_url, tmp_path, transport, effects=effects, allow_hosts=("127.0.0.1",))
    ) as gate:
        await store_secret(gate)
        paths = [f"/refunds?customer={quote(customer, safe='')}" for customer in DIVIDES]
        for customer, path in zip(DIVIDES, paths, strict=True):
            stub.answers[path] = reply({"id": "re_1"})
            await gate.done(EXECUTE, actionId=await approve(gate, customer=customer))
        assert [asked.path for asked in stub.asked] == paths


async def test_the_whole_address_is_in_the_chat_on_the_confirm_page_and_in_what_is_approved(
    surface: Gate, stub: StubServer
) -> None:
    address = f"POST {stub.url()}{PATH.removeprefix('/')}"
    staged = await surface.done(TOOL, **WANTED)
    stored = await surface.stored(staged["actions"][0]["id"])
    assert address in text_of(staged) and "{customer}" not in text_of(staged)
    facts = dict(describe(stored, "approve", {}).facts)
    assert facts["Goes to"] == address
    elsewhere = msgspec.structs.replace(stored.effect, target={"accountId": f"{address}/x"})
    assert elsewhere.digest() != stored.digest


async def test_the_key_of_the_action_is_filled_in_when_the_approved_address_is_asked(
    transport: str, database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    url = f"{stub.url()}{{customer}}/refunds/{{action.key}}?id={{action.id}}"
    effects = {"refund": section(stub.url(), url=url)}
    async with signed_in(
        gate_with((), database_url, tmp_path, transport, effects=effects, allow_hosts=("127.0.0.1",))
    ) as gate:
        await store_secret(gate)
        action_id = await approve(gate, customer="{action.id}")
        stored = await gate.stored(action_id)
        encoded = "%7Baction.id%7D"
        shown = f"POST {stub.url()}{encoded}/refunds/{{action.key}}?id={{action.id}}"
        assert stored.effect.target == {"accountId": shown}
        path = f"/{encoded}/refunds/{action_id}%3A1?id={action_id}"
        stub.answers[path] = reply({"id": "re_1"})
        await gate.done(EXECUTE, actionId=action_id)
        assert [asked.path for asked in stub.asked] == [path]


async def test_an_action_of_an_earlier_version_whose_value_would_leave_its_place_is_not_sent(
    surface: Gate, stub: StubServer
) -> None:
    await store_secret(surface)
    action_id = (await surface.done(TOOL, **WANTED))["actions"][0]["id"]
    stored = await surface.stored(action_id)
    target = {"accountId": f"POST {stub.url()}customers/{{customer}}/refunds"}
    given = {**stored.effect.arguments, "customer": "../admin"}
    effect = msgspec.structs.replace(stored.effect, target=target, arguments=given)
    await surface.overwrite(action_id, effect=effect, digest=effect.digest())
    await surface.approve_as(Assurance.PERSON, action_id)
    refused = await surface.denied(EXECUTE, actionId=action_id)
    assert (refused["reason"], stub.asked) == ("missing_connector", [])
    assert "customer" in refused["userMessage"]


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.2/refunds",
        "https://10.0.0.1/r",
        "http://127.0.0.1.nip.example/",
        "https://metadata.internal/",
    ],
)
async def test_an_address_that_is_not_public_is_not_asked_unless_the_settings_allow_it(
    transport: str, database_url: str, tmp_path: Path, url: str
) -> None:
    effects = {"refund": section(url, url=url, headers={})}
    async with signed_in(gate_with((), database_url, tmp_path, transport, effects=effects)) as gate:
        action_id = await approve(gate)
        refused = await gate.denied(EXECUTE, actionId=action_id)
        assert refused["reason"] == "provider_not_live"
