"""`assent new operator`: writes a small package with an operator and its tests."""

from __future__ import annotations

import keyword
import re
import sys
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

from assent.cli.session import CommandSession, Failure
from assent.kernel.distribution import list_dependencies
from assent.settings.client_config import in_shell

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
MAX_NAME_CHARS: Final = 40


def operator(
    session: CommandSession,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its id, such as acme-billing.", show_default=False)
    ],
    folder: Annotated[
        str | None, typer.Argument(metavar="DIR", help="Where to write it; its name by default.")
    ] = None,
) -> None:
    """Write a package with an operator and tests that pass.

    Refuses a folder that exists.
    """
    from assent.extensions.registry import RESERVED_IDS, RESERVED_PREFIXES

    module = name.replace("-", "_")
    if _NAME.fullmatch(name) is None or len(name) > MAX_NAME_CHARS:
        raise Failure(
            f"{name!r} is no name of an operator. Write small letters, digits and hyphens, such as acme-billing."
        )
    is_taken = keyword.iskeyword(module) or module in sys.stdlib_module_names
    is_taken = is_taken or module in packages_distributions()  # the new one would replace it
    if f"{module}_".startswith(RESERVED_PREFIXES) or name in RESERVED_IDS or is_taken:
        raise Failure(f"The name {name} is reserved. Choose another, such as acme-{name}.")
    target = Path(folder) if folder is not None else Path(name)
    if target.exists():
        raise Failure(f"{target} exists already. Name a folder that does not.")
    files = write_files(name, module)
    for path, text in files.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text, encoding="utf-8")
    session.give(
        {"folder": str(target), "files": sorted(files)},
        f"Written: {target}\n\nTry it; its tests need pytest:\n"
        f"  {in_shell(['cd', str(target)])} && python -m pytest\n"
        f"  {in_shell(['assent', 'serve', '--operators', str(target / f'{module}.py')])}\n"
        f"Install it: {in_shell([*_find_installer(), str(target.resolve())])}\n"
        f"  {in_shell(['assent', 'serve', '--operators', module])}",
    )


def _find_installer() -> list[str]:
    """Return the command that installs into this environment. That of a clone has no pip."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install"]
    own = Path(sys.prefix).with_name(".uv") / "bin" / "uv"
    return [str(own) if own.is_file() else "uv", "pip", "install", "--python", sys.executable]


def write_files(name: str, module: str) -> dict[str, str]:
    """Return the files of the package by their paths."""
    label = name.replace("-", " ").capitalize()
    values = {"NAME": name, "MODULE": module, "LABEL": label, "DEPENDENCIES": list_dependencies()}
    return {
        _fill(path, values): _fill(text, values)
        for path, text in {
            "pyproject.toml": PYPROJECT,
            "README.md": README,
            "MODULE.py": OPERATOR,
            "test_MODULE.py": TESTS,
        }.items()
    }


def _fill(text: str, values: dict[str, str]) -> str:
    for word, value in values.items():
        text = text.replace(word, value)
    return text


PYPROJECT: Final = """\
[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "NAME"
version = "0.1.0"
description = "An operator for Assent."
requires-python = ">=3.11"
dependencies = DEPENDENCIES

[project.optional-dependencies]
test = ["pytest"]

[tool.setuptools]
py-modules = ["MODULE"]
"""

README: Final = """\
# NAME

An operator for Assent: an agent prepares its effects, a person approves them, then they happen once.

    python -m pytest
    assent serve --operators MODULE.py
"""

OPERATOR: Final = '''\
"""An operator for Assent: its effects happen after a person has approved exactly their arguments."""

import assent

operator = assent.Operator("NAME", label="LABEL", function="Says what it does, in one sentence.")

SENT = []
"""Stands for the service that this operator calls."""


@operator.effect(risk="high", reversible=False, delivery=assent.native_key(hours=24))
async def refund(ctx: assent.Context, customer: str, amount: assent.Money, reason: str) -> assent.Receipt:
    """Refund a customer. USE WHEN the user asks to pay money back."""
    async with ctx.sending():
        # Call the service here, with ctx.key as its idempotency key.
        SENT.append((ctx.key, customer, amount))
    return assent.Receipt(f"refund-{len(SENT)}", output={"refunded": str(amount)})


@refund.describe
def describe_refund(customer, amount, reason):
    return assent.View(title=f"Refund {amount} to {customer}")


@refund.check
def check_refund(amount, **_):
    if not 0 < amount.value <= 500:
        raise assent.Problem("amount", "more than 0 and at most 500")
'''

TESTS: Final = """\
import assent
import pytest
from assent_conform.testing.operators import execute, prepare

from MODULE import SENT, refund

ARGUMENTS = {"customer": "cus_1", "amount": "12.50 EUR", "reason": "It arrived broken."}


@pytest.fixture(autouse=True)
def nothing_sent():
    SENT.clear()


def test_a_reviewer_sees_every_argument():
    prepared = prepare(refund, ARGUMENTS)
    assert prepared.view.title == "Refund 12.50 EUR to cus_1"
    assert "Reason: It arrived broken." in prepared.effect.body
    assert SENT == []


def test_a_large_refund_is_refused():
    with pytest.raises(assent.Problem) as refused:
        prepare(refund, {**ARGUMENTS, "amount": "501 EUR"})
    assert refused.value.field == "amount"


def test_an_approved_refund_is_sent():
    receipt = execute(refund, ARGUMENTS)
    assert receipt.output == {"refunded": "12.50 EUR"}
    assert len(SENT) == 1
"""
