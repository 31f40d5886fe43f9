"""The kit for authors: prepare without a network, execute without a server, and a package to begin with."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.support.extensions.letters import SENT, letter

import assent
from assent.cli import run
from assent.ports import NotSent
from assent_conform.testing.operators import NetworkBlocked, execute, look_up, prepare

shop = assent.Operator("kit-shop")
SOLD: list[str] = []


@shop.effect(delivery=assent.read_back())
def sell(ctx: assent.Context, item: str, how: str = "well") -> assent.Receipt:
    """Sell an item. USE WHEN the user sells."""
    SOLD.append(f"{item} {ctx.key}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        return assent.Receipt(item, output={"port": server.getsockname()[1] > 0})


@sell.look_up
def _look_up(ctx: assent.Context, item: str) -> assent.Receipt | None:
    return assent.Receipt(item) if f"{item} {ctx.key}" in SOLD else None


@sell.check
def _check(item: str, how: str) -> None:
    if how == "asks":
        urllib.request.urlopen("http://127.0.0.1:9/")
    if how == "connects":
        socket.create_connection(("127.0.0.1", 9))
    if how == "resolves":
        socket.getaddrinfo("localhost", 80)
    if not item:
        raise assent.Problem("item", "an item")


@dataclass
class Sale:
    price: assent.Money
    rate: Decimal


BUILT: list[str] = []


@dataclass
class Parcel:
    weight: int

    def __post_init__(self) -> None:
        BUILT.append(threading.current_thread().name)


@shop.effect()
def pack(parcel: Parcel) -> assent.Receipt:
    """Pack a parcel. USE WHEN the user sends one."""
    sale = Sale(assent.Money(Decimal("1.50"), "EUR"), Decimal("0.10"))
    return assent.Receipt(7, output={"sold": [sale]})  # type: ignore[arg-type]


def test_an_output_may_have_the_types_of_arguments_and_an_id_may_be_a_number() -> None:
    done = execute(pack, {"parcel": {"weight": 2}})
    assert (done.external_id, done.output) == ("7", {"sold": [{"price": "1.50 EUR", "rate": "0.10"}]})


def test_the_sentence_of_an_effect_is_that_of_its_docstring_and_names_no_arguments_without_any() -> None:
    @assent.Operator("kit-bell").effect()
    def ring() -> assent.Receipt:
        """Ring the bell. USE WHEN asked."""
        return assent.Receipt("rung")

    assert prepare(ring, {}).view.sentence == "Ring the bell. It runs once."


def test_approved_arguments_are_read_beside_the_event_loop() -> None:
    """Building a dataclass runs code of the extension."""
    BUILT.clear()
    prepare(pack, {"parcel": {"weight": 2}})
    before = len(BUILT)
    execute(pack, {"parcel": {"weight": 2}})
    assert set(BUILT[2 * before :]) == {"extension-kit-shop"}


@pytest.mark.parametrize("how", ["asks", "connects", "resolves"])
def test_code_that_only_prepares_has_no_network(how: str) -> None:
    with pytest.raises((NetworkBlocked, OSError)) as refused:
        prepare(sell, {"item": "lamp", "how": how})
    assert "only when it is performed" in str(refused.value)
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()[:2]).close()


def test_an_effect_is_executed_as_approved_and_read_back() -> None:
    SOLD.clear()
    assert look_up(sell, {"item": "lamp"}) is None
    done = execute(sell, {"item": "lamp"})
    assert (done.external_id, done.output) == ("lamp", {"port": True})
    assert SOLD == ["lamp act_testing:1"]
    found = look_up(sell, {"item": "lamp"})
    assert found is not None and found.external_id == "lamp"


def test_a_refused_argument_is_a_problem() -> None:
    for arguments in ({"item": ""}, {}, {"item": 3}):
        with pytest.raises(assent.Problem) as refused:
            prepare(sell, arguments)
        assert refused.value.field == "item"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_operator_has_tests_that_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "operator", "acme-billing"]) == 0
    said = capsys.readouterr().out
    installer = shlex.split(said[said.index("Install it: ") :].splitlines()[0])[2:]
    assert shutil.which(installer[0]) and sys.executable in installer  # no pip of another environment
    made = folder / "acme-billing"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=made,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
    assert "entry-points" not in (made / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["taken"], "exists already"),
        (["fine", "taken"], "exists already"),
        (["Not A Name"], "is no name of an operator"),
        (["chieflab-billing"], "is reserved"),
        (["json"], "is reserved"),
        (["class"], "is reserved"),
        (["manual"], "is reserved"),
        (["httpx"], "is reserved"),
    ],
)
def test_a_name_or_folder_that_cannot_be_used_is_refused(
    folder: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "taken").mkdir()
    assert run(["new", "operator", *arguments]) == 1
    assert said in capsys.readouterr().err
    assert [each.name for each in folder.iterdir()] == ["taken"]


LETTER = {"body": "Dear Ada, we moved to Lisbon.", "subject": "We moved", "to": ["ada@example.org"]}


def test_a_message_is_prepared_and_delivered_without_a_server() -> None:
    prepared = prepare(letter, LETTER)
    assert prepared.view.sentence == "Sends this to ada@example.org through Post office."
    assert prepared.view.mail
    assert execute(letter, LETTER, token="7", key="act_1").external_id == "act_1:1"
    assert SENT[-1] == ("We moved", ("ada@example.org",))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"to": []}, "to"),
        ({"to": ["boss@example.org"]}, "to"),
        ({"subject": ""}, "subject"),
        ({"title": "News"}, "title"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_message_that_does_not_fit_is_refused_by_the_kit(change: dict[str, Any], field: str) -> None:
    with pytest.raises(assent.Problem) as refused:
        prepare(letter, {**LETTER, **change})
    assert refused.value.field == field


def test_the_checks_of_a_message_have_no_network() -> None:
    with pytest.raises(NetworkBlocked):
        prepare(letter, {**LETTER, "subject": "ask the network"})


def test_a_connector_that_refuses_its_token_sends_nothing() -> None:
    with pytest.raises(NotSent) as refused:
        execute(letter, LETTER, token="8")
    assert refused.value.curable
