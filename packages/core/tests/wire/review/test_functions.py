"""A function behind the gate on the pages: every argument whole, the blocks of its type, an approval that also runs
it."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from packages.core.tests.wire.review.test_content import list_folded, shape
from packages.core.tests.wire.review.test_inbox import batch
from tests.support.docs.script import ROOT
from tests.support.review.hostile import CORPUS
from tests.support.review.kit import Provider, Server, form, forms
from tests.support.shell import stories
from tests.support.sqlite_files import new_sqlite

from assent.engine.actions import actions
from assent.engine.actions.staging import PreparedRun
from assent.extensions.effect_types import make_effect_type, prepare_effect
from assent.extensions.operators import EffectFunction
from assent.gate.connection import ConnectorInfo
from assent.gate.effects import EffectType, EffectTypes, Scene
from assent.gate.records import Effect, Media
from assent.gate.views import Diff, Facets, Facts, Field, Preview, Severity, Table, Text, View
from assent.kernel.refusals import Problem
from assent.ports import Connector, OutcomeUnknown, StagedEffect
from assent_launch.effect_types import effect_types

LETTER = "Dear Ada,\n\n  we are sorry.\nYour money is on its way: https://refunds.example/17"
LINES = [{"sku": "book", "note": "see https://nested.example/a"}, {"sku": "pen"}]
ARGUMENTS: dict[str, Any] = {
    "customer": "Ada  Lovelace",
    "amount": 12,
    "express": True,
    "coupon": None,
    "letter": LETTER,
    "lines": LINES,
}
SCHEMA = {
    "properties": {
        "customer": {"type": "string"},
        "amount": {"type": "integer"},
        "express": {"type": "boolean"},
        "coupon": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "letter": {"type": "string"},
        "lines": {"type": "array"},
    },
    "required": ["customer", "amount", "letter", "lines"],
}
MOST = 500


def describe(view: View, effect: Effect, scene: Scene) -> View:
    given = effect.arguments
    return msgspec.structs.replace(
        view,
        title=f"Refund {given['amount']} EUR to {given['customer']}",
        sentence="Pays the money back.",
        preview=Preview("arguments"),
        blocks=(
            Facts((("Account", "Main <account>"), ("Memo", ""))),
            Text("Agreement", "Read [our terms](https://terms.example/x) first.\nThen pay."),
            Text("Query", "UPDATE orders\n  SET paid = 0", code=True),
            Table("Orders", ("Order", "Paid"), (("A-1", "12 EUR"), ("A-2", "https://cell.example/2"))),
            Diff("Balance", "The balance is 100 EUR.", "The balance is 88 EUR.\u202e"),
        ),
        links=("https://beside.example/account",),
    )


def check(effect: Effect) -> Iterable[Problem]:
    if effect.arguments["amount"] > MOST:
        return [Problem("amount", f"at most {MOST}", str(effect.arguments["amount"]))]
    return []


def write_body(before: Effect, after: Effect) -> Effect:
    return msgspec.structs.replace(
        after, body="\n".join(f"{name}: {value}" for name, value in after.arguments.items())
    )


def refunds(**more: Any) -> EffectType:
    fields = tuple(
        Field(name=f"arguments.{name}", label=name.capitalize(), many=name == "letter") for name in ARGUMENTS
    )
    return EffectType(
        **{
            "channel": "billing",
            "verb": "refund",
            "label": "Billing",
            "noun": "Refund",
            "common_noun": True,
            "via": ("bank",),
            "risk": Severity.LOW,
            "describe": describe,
            "fields": lambda effect: fields,
            "check": check,
            "normalise": write_body,
            "schema": lambda effect: SCHEMA,
            **more,
        }
    )


def refund(**arguments: Any) -> StagedEffect:
    given = {**ARGUMENTS, **arguments}
    effect = Effect(channel="billing", verb="refund", connector="bank", body="as text", arguments=given)
    return StagedEffect(effect=write_body(effect, effect), executor_tool="chieflab_execute_approved_action")


BANK = ConnectorInfo("bank", "The bank", "", "none", ("billing",), ("publish",))


class Bank(Server):
    """A server with a type of a stranger beside those of the suite."""

    def __init__(self, folder: Path, kind: EffectType) -> None:
        self.bank = Provider("bank")
        connectors: dict[str, Connector] = {
            "zernio": Provider("zernio"),
            **dict.fromkeys(kind.via, self.bank),
        }
        super().__init__(
            new_sqlite(folder / "assent.db"),
            folder,
            effects=EffectTypes((*effect_types(), kind), (BANK,)),
            connectors=connectors,
        )


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> EffectType:
    wanted = getattr(request, "param", {})
    return make_effect_type(readme_refund()) if wanted == "readme" else refunds(**wanted)


def readme_refund() -> EffectFunction:
    """The refund of the README, which has no `describe`."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    known: dict[str, Any] = {"__name__": "billing"}
    exec(code, known)  # noqa: S102 - our own page
    function: EffectFunction = known["refund"]
    return function


def pay_back(customer: str, amount: str) -> StagedEffect:
    effect = prepare_effect(readme_refund(), {"customer": customer, "amount": amount})
    return StagedEffect(effect=effect, executor_tool="chieflab_execute_approved_action")


@pytest.fixture
async def server(tmp_path: Path, kind: EffectType) -> AsyncIterator[Bank]:
    made = Bank(tmp_path, kind)
    yield made
    await made.close()


AT_ONCE = pytest.mark.parametrize("kind", [{"approval_executes": True}], indirect=True)
HIGH = pytest.mark.parametrize("kind", [{"risk": Severity.HIGH}], indirect=True)


def read(page: str) -> str:
    """The words of a page."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


def content(page: str) -> str:
    return page[page.index('<div class="content') : page.index('<div class="decide"')]


async def staged(server: Server) -> tuple[PreparedRun, str, str]:
    """A run with one refund, its action and its page."""
    run = await server.stage(refund())
    return run, run.actions[0].id, await server.page(await server.owner(), run.run_id)


async def test_every_argument_is_shown_whole_and_once(server: Bank) -> None:
    _, _, page = await staged(server)
    shown = content(page)
    assert "Refund 12 EUR to Ada  Lovelace" in read(page)
    for label, value in (
        ("Customer", "Ada  Lovelace"),
        ("Amount", "12"),
        ("Express", "true"),
        ("Coupon", "(none)"),
    ):
        assert f"<dt>{label}</dt><dd><bdi>{value}</bdi></dd>" in shown
    assert f'<div class="text view-block boxed" dir="auto"><bdi>{LETTER}</bdi></div>' in shown
    columns = dict.fromkeys(name for line in LINES for name in line)
    assert all(f'<th scope="col">{name}</th>' in shown for name in columns)
    assert all(f"<bdi>{value}</bdi>" in shown for line in LINES for value in line.values())
    assert shown.count("we are sorry") == 1
    assert "6 arguments" in shown


README_REFUND = pytest.mark.parametrize("kind", ["readme"], indirect=True)


@README_REFUND
async def test_the_refund_of_the_readme_is_titled_with_verb_money_and_person(server: Bank) -> None:
    run = await server.stage(pay_back("Kari Nordmann", "1248.00 NOK"))
    page = await server.page(await server.owner(), run.run_id)
    assert re.search(r"<h1[^>]*><bdi>Refund 1,248.00 NOK to Kari Nordmann</bdi></h1>", page)
    assert "<dt>Goes to</dt><dd><bdi>Billing</bdi></dd>" in page
    assert "It cannot be undone." in page and "Refund a customer. It runs once" in page
    for label, value in (("Customer", "Kari Nordmann"), ("Amount", "1248.00 NOK")):
        assert f"<dt>{label}</dt><dd><bdi>{value}</bdi></dd>" in content(page)


@pytest.mark.parametrize(
    "kind",
    [
        {
            "risk": Severity.HIGH,
            "why": "It cannot be undone.",
            "facets": lambda effect: Facets(recipients=("Ada",)),
        }
    ],
    indirect=True,
)
async def test_a_function_that_reaches_a_person_says_whether_it_can_be_undone(server: Bank) -> None:
    _, _, page = await staged(server)
    assert "It goes to 1 person. It cannot be undone." in page


@pytest.mark.rule("E71")
@README_REFUND
async def test_a_member_sees_earlier_refunds_of_the_customer_and_a_link_shows_its_run_alone(
    server: Bank,
) -> None:
    member = await server.owner()
    for amount in (90, 100, 110, 120, 130):
        done = await server.stage(pay_back("Kari Nordmann", f"{amount} NOK"))
        await stories.sent(server, done)
        server.clock.advance(hours=1)
    server.clock.advance(days=1)
    await stories.sent(server, await server.stage(pay_back("Ola Nordmann", "200 NOK")))
    why = "She sent <b>photos</b>."
    wanted = pay_back("Kari Nordmann", "1248 NOK")
    run = await server.stage(msgspec.structs.replace(wanted, metadata={"reason": why}))

    for page in (
        read(await server.page(member, run.run_id)),
        read((await member.get(f"/inbox/pane/{run.actions[0].id}")).text),
    ):
        assert "5 times for Kari Nordmann" in page and "Refund 130 NOK to Kari Nordmann" in page
        assert "200 NOK in 1" in page and "90 to 200 NOK" in page and "This one is outside" in page
        assert f"{why}Why, in your agent’s words" in page
    link = await (await server.opened(run)).get(f"/runs/{run.run_id}")
    assert "Refund 1,248 NOK" in read(link.text) and why in read(link.text)
    assert not [text for text in ("5 times", "130 NOK", "200 NOK", "Ola") if text in read(link.text)]


async def test_the_blocks_of_a_type_are_drawn_escaped_and_whole(server: Bank) -> None:
    shown = content((await staged(server))[2])
    assert "<dt>Account</dt><dd><bdi>Main &lt;account&gt;</bdi></dd>" in shown
    assert '<dt>Memo</dt><dd><span class="hint">empty</span></dd>' in shown
    assert '<pre class="text source view-block boxed" dir="ltr">UPDATE orders\n  SET paid = 0</pre>' in shown
    assert '<th scope="col">Order</th><th scope="col">Paid</th>' in shown
    assert "<bdi>A-1</bdi>" in shown and "<bdi>12 EUR</bdi>" in shown
    assert "<del>100</del><ins>88</ins>" in shown
    assert '<span class="unseen">U+202E</span>' in shown


async def test_the_links_of_arguments_and_blocks_are_listed(server: Bank) -> None:
    listed = re.findall(r'<ul class="targets">.*?</ul>', (await staged(server))[2], re.DOTALL)[0]
    for address in (
        "https://refunds.example/17",
        "https://nested.example/a",
        "https://cell.example/2",
        "https://beside.example/account",
    ):
        assert listed.count(f">{address}</code>") == 1
    assert '“<bdi>our terms</bdi>” leads to <code dir="ltr">https://terms.example/x</code>' in listed


async def test_a_picture_of_a_function_is_shown_with_it(server: Bank) -> None:
    run = await server.stage(refund())
    action = await server.action(run.actions[0].id)
    media = (
        Media(kind="image", url="http://127.0.0.1/p.png", alt="The receipt", digest="sha256:" + "a1" * 32),
    )
    await server.overwrite(action, msgspec.structs.replace(action.effect, media=media))
    shown = content(await server.page(await server.owner(), run.run_id))
    assert f'src="/runs/{run.run_id}/pictures/{"a1" * 32}.png" alt="The receipt"' in shown


@HIGH
async def test_nothing_that_an_approval_covers_is_folded_at_high_risk_and_its_digest_is(server: Bank) -> None:
    _, action_id, page = await staged(server)
    assert list_folded(content(page)) == {"past", "more"}
    folded = page[page.index('<details class="more">') :]
    digest = (await server.action(action_id)).digest
    assert digest in folded[: folded.index("</details>")]


async def test_the_page_of_several_actions_shows_arguments_and_blocks(server: Bank) -> None:
    _, action_id, _ = await staged(server)
    other = (await server.stage(refund(customer="Grace"))).actions[0].id
    owner = await server.owner()
    together = (await batch(server, owner, "approve", action_id, other)).text
    for fact in ("Ada  Lovelace", "we are sorry", "see https://nested.example/a", "Main <account>", "A-2"):
        assert fact in read(together), fact
    assert "Grace" in together and "Approve 2 together?" in read(together)


async def test_a_row_of_the_inbox_names_every_argument(server: Bank) -> None:
    await server.stage(refund())
    page = (await (await server.owner()).get("/inbox")).text
    [row] = re.findall(r"<li data-row.*?</li>", page, re.DOTALL)
    assert "Refund 12 EUR to Ada  Lovelace" in read(row)
    for fact in (
        "Customer: Ada Lovelace",
        "Amount: 12",
        "Express: true",
        "Coupon: (none)",
        "Letter: Dear Ada,",
    ):
        assert fact in read(row), fact


async def test_an_edited_argument_becomes_a_revision_with_its_own_difference(server: Bank) -> None:
    run, action_id, page = await staged(server)
    owner = await server.owner()
    fields = form(page, action_id, "edit").fields
    assert fields["arguments.customer"] == "Ada  Lovelace" and fields["arguments.letter"] == LETTER
    changes = {"arguments.amount": "15", "arguments.coupon": "SPRING"}
    answer = await server.decide(owner, run.run_id, action_id, "edit", **changes)
    assert answer.status_code == 303, answer.text
    action = await server.action(action_id)
    assert action.effect.arguments == {**ARGUMENTS, "amount": 15, "coupon": "SPRING"}
    assert action.view.title == "Refund 15 EUR to Ada  Lovelace"
    shown = await server.page(owner, run.run_id)
    changed = shown[shown.index('data-panel="changes"') :].partition('data-panel="history"')[0]
    assert re.findall("<h4>(.*?)</h4>", changed) == ["Amount", "Coupon"]
    assert "<del>12</del><ins>15</ins>" in changed


async def test_a_problem_of_an_argument_is_shown_at_its_field(server: Bank) -> None:
    run = await server.stage(refund())
    action_id, owner = run.actions[0].id, await server.owner()
    edit = form(await server.page(owner, run.run_id), action_id, "edit")
    for typed, expected in (("900", "at most 500"), ("twelve", "a whole number")):
        data = {**edit.fields, "arguments.amount": typed}
        saved = (await owner.post(edit.address, data=data)).text
        place = f"edit-arguments.amount-{action_id}"
        assert re.search(rf'<p class="wrong" id="{place}-wrong">[^<]*{expected}', saved), typed
        assert f'name="arguments.amount" type="text" dir="auto" value="{typed}"' in saved
        compared = (await owner.post(edit.address, data={**data, "then": "compare"})).text
        assert re.search(rf'<p class="wrong" id="arguments.amount-wrong">[^<]*{expected}', compared), typed
    assert (await server.action(action_id)).revision == 1


async def test_the_edit_page_compares_arguments_and_stores_nothing(server: Bank) -> None:
    run, action_id, _ = await staged(server)
    owner = await server.owner()
    page = (await owner.get(f"/runs/{run.run_id}/actions/{action_id}/edit")).text
    [edit] = [each for each in forms(page) if each.address.endswith("/edit")]
    assert [name for name in edit.fields if name.startswith("arguments.")] == [
        f"arguments.{name}" for name in ARGUMENTS
    ]
    assert "body" not in edit.fields
    data = {**edit.fields, "arguments.letter": LETTER.replace("sorry", "glad"), "then": "compare"}
    compared = (await owner.post(edit.address, data=data)).text
    assert "<h3>Letter</h3>" in compared and "<del>sorry</del><ins>glad</ins>" in compared
    assert (await server.action(action_id)).revision == 1


@AT_ONCE
async def test_an_approval_that_also_runs_it_says_so_and_does(server: Bank) -> None:
    run, action_id, page = await staged(server)
    assert "Pays the money back." in page and "Your approval also runs it." in page
    found = form(page, action_id, "approve")
    assert list(found.buttons) == [("", "", "")]
    assert "<summary>Approve and run</summary>" in page and ">Approve and run now</button>" in page
    assert "The approval runs it at once." in page
    answer = await server.decide(await server.owner(), run.run_id, action_id, "approve")
    assert "did=send" in answer.headers["location"]
    await server.run_jobs()
    assert [action.effect.arguments for action in server.bank.done] == [ARGUMENTS]
    assert (await server.action(action_id)).status == "executed"


@pytest.mark.parametrize("kind", [{"approval_executes": True, "common_noun": False}], indirect=True)
async def test_the_heading_of_a_finished_function_quotes_its_name(server: Bank) -> None:
    run, action_id, _ = await staged(server)
    await server.decide(await server.owner(), run.run_id, action_id, "approve")
    await server.run_jobs()
    page = read(await server.page(await server.owner(), run.run_id))
    noun = (await server.action(action_id)).view.noun
    assert f"“{noun}” is done" in page
    assert f"This {noun}" not in page


@pytest.mark.parametrize("kind", [{"fields": lambda effect: ()}], indirect=True)
async def test_arguments_that_cannot_be_edited_have_no_form(server: Bank) -> None:
    run, action_id, page = await staged(server)
    assert {each.decision for each in forms(page) if each.action_id} == {"approve", "ask", "reject"}
    owner = await server.owner()
    answer = await owner.get(f"/runs/{run.run_id}/actions/{action_id}/edit")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/runs/{run.run_id}")
    row = re.findall(r"<li data-row.*?</li>", (await owner.get("/inbox")).text, re.DOTALL)[0]
    assert "Approve" in row and "Edit" not in row


PLACES = {"javascript:alert(1)": False, "Ask the bank.": False, "https://bank.example/done": True}


@pytest.mark.parametrize(
    ("kind", "is_link"), [({"look_at": at}, link) for at, link in PLACES.items()], indirect=["kind"]
)
async def test_a_place_to_look_at_is_a_link_only_if_it_is_a_web_address(
    server: Bank, kind: EffectType, is_link: bool
) -> None:
    def lose(action: object) -> Any:
        raise OutcomeUnknown("the line broke")

    server.bank.then = lose
    run, action_id, _ = await staged(server)
    owner = await server.owner()
    await server.decide(owner, run.run_id, action_id, "approve", then="send")
    await server.run_jobs()
    page = await server.page(owner, run.run_id)
    assert "We do not know whether this was done" in page
    assert kind.look_at in read(page)
    assert (f'href="{kind.look_at}"' in page) == is_link


def fill_view(view: View, words: str) -> View:
    """A view that has these words in every place that can hold any."""
    return msgspec.structs.replace(
        view,
        **dict.fromkeys(
            ("label", "noun", "title", "sentence", "destination", "summary", "why", "via"), words
        ),
        blocks=(
            Facts(((words, words),)),
            Text(words, words),
            Text(words, words, code=True),
            Table(words, (words,), ((words, words),)),
            Diff(words, f"before {words}", f"after {words}"),
        ),
        links=(words,),
        fields=(
            Field(name="arguments.short", label=words, unit=words, counts=words, most=9),
            Field(name="arguments.long", label=words, many=True, unit=words, counts=words, most=9),
        ),
    )


async def see_filled(server: Server, words: str) -> list[str]:
    """The pages of a function with these words everywhere."""
    run = await server.stage(refund())
    action = await server.action(run.actions[0].id)
    given = {"short": words, "long": f"{words}\n{words}", words: [words, {words: words}]}
    effect = msgspec.structs.replace(action.effect, arguments=given)
    changed = msgspec.structs.replace(
        action, effect=effect, digest=effect.digest(), view=fill_view(action.view, words)
    )
    await server.app.store.write(lambda: actions.put_without_event(changed))
    await server.app.store.write(lambda: actions.store_view(changed))
    owner, here = await server.owner(), f"/runs/{run.run_id}"
    paths = (here, "/inbox", f"/inbox/pane/{action.action_id}", f"{here}/actions/{action.action_id}/edit")
    pages = [(await owner.get(path)).text for path in paths]
    edit = form(pages[0], action.action_id, "edit")
    compared = await owner.post(
        edit.address, data={**edit.fields, "arguments.short": f"{words}!", "then": "compare"}
    )
    together = await batch(server, owner, "approve", action.action_id)
    assert {compared.status_code, together.status_code} == {200}
    assert edit.fields["arguments.long"] == given["long"]
    return [*pages, compared.text, together.text]


@pytest.fixture
async def known_shapes(server: Bank) -> list[set[tuple[str, tuple[str, ...]]]]:
    """The tags of our own templates on each page, with words that bring out all of them."""
    rich = await see_filled(server, "Hi\u200b [a](https://xn--b.example) <a href='https://c.example'>d</a>")
    plain = await see_filled(server, "Hi")
    return [shape(one) | shape(other) for one, other in zip(rich, plain, strict=True)]


@pytest.mark.parametrize("payloads", [CORPUS[at : at + 5] for at in range(0, len(CORPUS), 5)], ids=repr)
async def test_hostile_words_of_an_operator_stay_text_on_every_page(
    server: Bank, known_shapes: list[set[tuple[str, tuple[str, ...]]]], payloads: Sequence[str]
) -> None:
    for payload in payloads:
        for page, known in zip(await see_filled(server, payload), known_shapes, strict=True):
            assert shape(page) <= known
