"""Operators with tables of their own: declared, refused when they leave their prefix, told by the commands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from packages.core.tests.store.stores.test_components import REASONS, REFUNDS, Shelf
from tests.support.actions.kit import EXECUTE, Gate
from tests.support.cli.fixtures import Assent
from tests.support.cli.fixtures import assent as assent
from tests.support.cli.fixtures import bare_environment as bare_environment
from tests.support.cli.fixtures import data_dir as data_dir
from tests.support.extensions.fixtures import gate_with
from tests.support.surfaces import signed_in

from assent.extensions.registry import Extensions, Names, load_extensions
from assent.gate.records import Assurance

LEDGER = """
from pathlib import Path
import assent
from assent.sdk import Component

ledger = Component("{name}", prefix="{prefix}", folder=Path(__file__).parent)
billing = assent.Operator("{id}", component=ledger)

@billing.effect()
def refund(customer: str) -> assent.Receipt:
    "Refund a customer."
"""


def write_operator(folder: Path, *, id: str, name: str = "", prefix: str = "acme_") -> str:
    Shelf(folder).migrate(1, REFUNDS.replace("acme_", prefix))
    (folder / "statements/refunds.sql").unlink()
    file = folder / "ledger.py"
    file.write_text(LEDGER.format(id=id, name=name or id, prefix=prefix))
    return str(file)


def load(*files: str, taken: Names | None = None) -> Extensions:
    return load_extensions(files, taken or Names())


def test_the_tables_of_operators_are_listed(tmp_path: Path) -> None:
    one = write_operator(tmp_path / "one", id="one", prefix="one_")
    two = write_operator(tmp_path / "two", id="two", prefix="two_")
    loaded = load(one, two)
    assert loaded.failures == ()
    assert [each.name for each in loaded.components] == ["one", "two"]


def test_operators_of_one_extension_share_a_component(tmp_path: Path) -> None:
    file = write_operator(tmp_path / "one", id="one")
    Path(file).write_text(
        Path(file).read_text()
        + '\nmore = assent.Operator("more", component=ledger)\n'
        + '@more.effect()\ndef pay(customer: str) -> assent.Receipt:\n    "Pay a customer."\n'
    )
    loaded = load(file)
    assert (len(loaded.operators), len(loaded.components), loaded.failures) == (2, 1, ())


@pytest.mark.parametrize("prefix", ["acme_", "acme_more_"])
def test_two_components_with_one_prefix_are_refused(tmp_path: Path, prefix: str) -> None:
    one = write_operator(tmp_path / "one", id="one")
    two = write_operator(tmp_path / "two", id="two", prefix=prefix)
    loaded = load(one, two)
    assert [each.id for each in loaded.operators] == ["one"]
    (failure,) = loaded.failures
    assert f"the table prefix {prefix} meets acme_" in failure.why and "one/ledger.py" in failure.why


def test_two_components_with_one_name_are_refused(tmp_path: Path) -> None:
    one = write_operator(tmp_path / "one", id="one", name="ledger")
    two = write_operator(tmp_path / "two", id="two", name="ledger", prefix="two_")
    (failure,) = load(one, two).failures
    assert "the component ledger exists already" in failure.why


def test_a_name_of_the_server_is_refused(tmp_path: Path) -> None:
    taken = Names(components={"suite": "Assent"}, prefixes={"suite_": "Assent"})
    (failure,) = load(write_operator(tmp_path / "a", id="a", name="suite"), taken=taken).failures
    assert "the component suite exists already: Assent" in failure.why
    (failure,) = load(write_operator(tmp_path / "b", id="b", prefix="suite_"), taken=taken).failures
    assert "the table prefix suite_ meets suite_: Assent" in failure.why


def test_a_component_that_leaves_its_prefix_is_left_out_and_the_others_stay(tmp_path: Path) -> None:
    good = write_operator(tmp_path / "good", id="good", prefix="good_")
    bad = write_operator(tmp_path / "bad", id="bad")
    Shelf(tmp_path / "bad").migrate(2, "DELETE FROM actions;")
    loaded = load(bad, good)
    assert [each.id for each in loaded.operators] == ["good"]
    assert "0002_test.sql touches actions" in loaded.failures[0].why


def test_a_component_of_the_wrong_type_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text('import assent\nbilling = assent.Operator("a", component="tables")\n')
    (failure,) = load(str(file)).failures
    assert "the component of a is str" in failure.why


def test_commands_migrate_and_report_the_tables_of_an_operator(assent: Assent, tmp_path: Path) -> None:
    file = write_operator(tmp_path / "acme", id="acme")
    assent("init")
    waiting = assent("doctor", "--operators", file)
    assert "tables of acme: the database waits for acme/0001_test" in waiting.out

    done = assent("migrate", "--operators", file)

    assert (done.code, done.out.strip()) == (0, "Applied acme/0001_test.")
    assert "tables of acme" not in assent("doctor", "--operators", file).out
    Shelf(tmp_path / "acme").migrate(2, REASONS.replace("acme_refunds", "acme_nowhere"))
    failed = assent("migrate", "--operators", file)
    assert failed.code == 1
    assert "The component acme was not migrated" in failed.out and "acme_nowhere" in failed.out
    assert assent("migrate").code == 0  # without the operator


STORING = """
from pathlib import Path
import assent
from assent.engine.core.tenancy import statements as core
from assent.sdk import Component

ledger = Component("acme", prefix="acme_", folder=Path(__file__).parent)
books = assent.Operator("acme-books", component=ledger)

@books.effect(delivery=assent.natural_key())
async def enter(ctx: assent.Context, customer: str) -> assent.Receipt:
    "Enter a customer."
    own = {"workspace_id": ctx.workspace_id}
    await ctx.store.write(ledger.statements.insert_refund(**own, customer=customer))
    rows = await ctx.store.read(ledger.statements.list_refunds(**own))
    return assent.Receipt(customer, output=[row["customer"] for row in rows])

@books.effect()
async def stray(ctx: assent.Context) -> assent.Receipt:
    "Read what is not its own."
    await ctx.store.read(core.list_workspaces())
    async with ctx.sending():
        return assent.Receipt("read")

books.channel(
    assent.EffectType("books", "note", description="Note a customer.", via=("shelf",), risk="low")
)

@books.connector
class ShelfConnector(assent.Connector):
    id = "shelf"

    async def perform(self, ctx, effect):
        own = {"workspace_id": ctx.workspace_id}
        await ctx.store.write(ledger.statements.insert_refund(**own, customer=effect.body))
        rows = await ctx.store.read(ledger.statements.list_refunds(**own))
        return assent.Receipt("noted", output=[row["customer"] for row in rows])

loose = assent.Operator("acme-loose")

@loose.effect()
async def forget(ctx: assent.Context) -> assent.Receipt:
    "Use a store that was not declared."
    await ctx.store.read()
    async with ctx.sending():
        return assent.Receipt("read")
"""


@pytest.fixture
async def books(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Gate]:
    shelf = Shelf(tmp_path / "books")
    shelf.migrate(1, REFUNDS)
    shelf.write("books.py", STORING)
    async with signed_in(
        gate_with((str(tmp_path / "books/books.py"),), database_url, tmp_path, transport)
    ) as gate:
        yield gate


async def approve_call(gate: Gate, tool: str, **arguments: str) -> str:
    action_id: str = (await gate.done(tool, **arguments))["actions"][0]["id"]
    await gate.approve_as(Assurance.PERSON, action_id)
    return action_id


@pytest.mark.own_database
async def test_an_approved_effect_stores_in_its_own_tables(books: Gate) -> None:
    first = await approve_call(books, "acme_books_enter", customer="dana")
    second = await approve_call(books, "acme_books_enter", customer="eli")
    assert (await books.done(EXECUTE, actionId=first))["output"] == ["dana"]
    assert (await books.done(EXECUTE, actionId=second))["output"] == ["dana", "eli"]


@pytest.mark.own_database
async def test_a_connector_stores_in_the_tables_of_its_operator(books: Gate) -> None:
    action_id = await approve_call(books, "acme_books_books_note", body="Dana moved to Lisbon.")
    assert (await books.done(EXECUTE, actionId=action_id))["output"] == ["Dana moved to Lisbon."]


@pytest.mark.own_database
@pytest.mark.parametrize("tool", ["acme_books_stray", "acme_loose_forget"])
async def test_an_effect_reads_nothing_but_its_own_tables(books: Gate, tool: str) -> None:
    action_id = await approve_call(books, tool)
    assert (await books.denied(EXECUTE, actionId=action_id))["reason"] == "connector_failed"
