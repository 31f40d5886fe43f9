"""A configured model's draft is checked like anybody's, and its failure never stops a launch."""

from __future__ import annotations

import msgspec
import pytest
from tests.support.net.stub_server import Answer, StubServer, closed_port

from assent_launch.channels.registry import BY_ID
from assent_launch.content.adapter import adapt_written
from assent_launch.content.evidence import gather
from assent_launch.content.lessons import NOTHING_LEARNED, Lessons, Rejection
from assent_launch.content.records import MODEL, NOTE, CheckedText, ProductFacts
from assent_launch.drafting import Model, write_plainly, write_with

EVIDENCE = gather(
    product_url="https://ledgerly.example",
    repo_context={"readme": "# Ledgerly\n\nLedgerly sends invoices and reminds late clients politely."},
    brand={"voice": "plain"},
)
JSON = {"Content-Type": "application/json"}
GOAL = "more paid invoices"
GOOD = "Ledgerly reminds late clients politely, so that you do not have to."


def openai(stub: StubServer) -> Model:
    return Model(url=stub.url("/v1"), name="small", api_key="sk-very-secret")


def says(stub: StubServer, text: str) -> None:
    body = msgspec.json.encode({"choices": [{"message": {"role": "assistant", "content": text}}]})
    stub.answers["/v1/chat/completions"] = Answer(body=body, headers=JSON)


async def written(
    model: Model,
    channel: str = "linkedin",
    timeout_seconds: float = 10.0,
    lessons: Lessons = NOTHING_LEARNED,
) -> CheckedText:
    facts = ProductFacts(EVIDENCE, lessons)
    write = write_with(model, write_plainly, timeout_seconds=timeout_seconds)
    made = await write(facts, BY_ID[channel], GOAL)
    assert made is not None
    return adapt_written(channel, made, facts)


async def test_an_openai_compatible_model_is_asked_with_facts_as_data(stub: StubServer) -> None:
    says(stub, GOOD)
    lessons = Lessons(rejections=(Rejection(entry_id="r1", reason="no emoji"),))
    made = await written(openai(stub), lessons=lessons)
    assert (made.body, made.source) == (GOOD, MODEL)
    asked = stub.asked[0]
    assert asked.headers["authorization"] == "Bearer sk-very-secret"
    body = msgspec.json.decode(asked.body)
    question = msgspec.json.decode(body["messages"][1]["content"])
    assert body["model"] == "small"
    assert {"source": "readme", "text": EVIDENCE.first("readme")} in question["facts"]
    assert (question["goal"], question["voice"]) == (GOAL, ["plain"])
    assert "3,000 characters" in question["channel"]
    assert question["lessons"][0].startswith("No emoji")


async def test_an_anthropic_model_is_asked_its_way(stub: StubServer) -> None:
    body = msgspec.json.encode({"content": [{"type": "text", "text": GOOD}]})
    stub.answers["/v1/messages"] = Answer(body=body, headers=JSON)
    model = Model(url=stub.url("/v1/"), name="m", kind="anthropic", api_key="key")
    assert (await written(model)).body == GOOD
    asked = stub.asked[0]
    assert asked.headers["x-api-key"] == "key"
    assert "anthropic-version" in asked.headers
    assert msgspec.json.decode(asked.body)["max_tokens"] > 0


async def test_a_title_is_taken_from_the_answer(stub: StubServer) -> None:
    says(stub, f"Subject: Polite reminders\n\n{GOOD}")
    made = await written(openai(stub), "email")
    assert (made.subject, made.body) == ("Polite reminders", GOOD)


async def test_what_a_model_invents_is_warned_about(stub: StubServer) -> None:
    says(stub, "Ledgerly is the best invoicing tool and saves 40% of your time.")
    made = await written(openai(stub))
    assert any("nothing in the evidence says so" in warning for warning in made.warnings)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=500),
        Answer(status=401, body=b"{}"),
        Answer(status=302, headers={"Location": "http://127.0.0.1:1/"}, body=b""),
        Answer(body=b"not json"),
        Answer(body=b"{}"),
        Answer(body=b"[]"),
        Answer(body=b'{"choices": []}'),
        Answer(body=b'{"choices": [{"message": {"content": null}}]}'),
        Answer(body=b'{"choices": [{"message": {"content": "  "}}]}'),
        Answer(body=b"x" * 65_536, endless=True),
        Answer(stall=True),
        Answer(body=msgspec.json.encode({"choices": [{"message": {"content": "Here is a post:\n\n[NAME] is out"}}]})),
        Answer(body=msgspec.json.encode({"choices": [{"message": {"content": "word " * 2_000}}]})),
    ],
)  # fmt: skip
async def test_whatever_goes_wrong_a_plain_note_is_written_and_says_why(
    stub: StubServer, answer: Answer
) -> None:
    stub.answers["/v1/chat/completions"] = answer
    made = await written(openai(stub), timeout_seconds=0.5)
    assert made.source == NOTE
    assert made.warnings[0].startswith("The model was not used: ")
    assert "sk-very-secret" not in str(made)


async def test_a_model_that_is_not_there_is_done_without() -> None:
    made = await written(Model(url=f"http://127.0.0.1:{closed_port()}/v1", name="m"))
    assert made.source == NOTE


async def test_where_neither_can_write_a_draft_is_asked_for() -> None:
    write = write_with(Model(url=f"http://127.0.0.1:{closed_port()}/v1", name="m"), write_plainly)
    assert await write(ProductFacts(gather()), BY_ID["bluesky"], GOAL) is None


def test_a_key_is_not_shown() -> None:
    assert "sk-very-secret" not in repr(Model(url="https://a.example", name="m", api_key="sk-very-secret"))
