"""A use case is the only caller of its writing transaction."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import assent

SOURCES = Path(assent.__file__).parent

TRANSACTIONS = {
    "assent.engine.actions.decisions": {
        "approve",
        "ask_for_changes",
        "edit",
        "hand_over",
        "record_publish",
        "reject",
        "withdraw",
    },
    "assent.engine.actions.execution": {"call_connector", "claim", "claim_action"},
    "assent.engine.actions.reconciliation": {"ask_again", "resolve"},
    "assent.engine.actions.recording": {"record", "record_report"},
    "assent.engine.actions.remainder": {"stage_again"},
    "assent.engine.actions.staging": {"store"},
    "assent.engine.core.freezes": {"freeze", "unfreeze"},
    "assent.engine.learning.measurement": {"keep"},
    "assent.engine.actions.flood": {"reject_some"},
}
"""The transactions of use cases, by their module. In the engine one may be a part of another."""

OF_CONNECTIONS = {"choose", "disconnect", "ending", "save"}
"""Those of the connections, which are a part of the services."""


def list_reexports() -> Iterator[tuple[str, str]]:
    for file in (SOURCES / "platform").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for each in node.names if isinstance(node, ast.ImportFrom) else ():
                origin = f"{node.module}.{each.name}"  # type: ignore[attr-defined]
                yield f"assent.platform.{file.stem}.{each.asname or each.name}", origin


REEXPORTED = dict(list_reexports())
"""What the platform gives under another name, by that name."""


def test_only_a_use_case_calls_its_transaction() -> None:
    found = {
        f"{file.relative_to(SOURCES)}: {name}"
        for file in SOURCES.rglob("*.py")
        if file.relative_to(SOURCES).parts[0] not in ("engine", "use_cases")
        for name in list_uses(file.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_a_caller_is_found_by_either_kind_of_import_and_under_another_name() -> None:
    source = "from assent.engine.actions import decisions as d\nd.approve()\nd.SEND_JOB"
    assert set(list_uses(source)) == {"assent.engine.actions.decisions.approve"}
    assert set(list_uses("from assent.engine.actions.recording import record as r")) == {
        "assent.engine.actions.recording.record"
    }
    through = "from assent.platform.services import measurement\nmeasurement.keep()"
    assert set(list_uses(through)) == {"assent.engine.learning.measurement.keep"}
    assert set(list_uses("visit.services.connections.save(new)")) == {"ConnectionStore.save"}
    assert set(
        list_uses("import assent.engine.actions.flood\nassent.engine.actions.flood.reject_some()")
    ) == {"assent.engine.actions.flood.reject_some"}


def test_each_transaction_exists() -> None:
    for module, names in TRANSACTIONS.items():
        tree = ast.parse((SOURCES.parent / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        defined = {
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert names <= defined, module


def list_uses(source: str) -> Iterator[str]:
    """The transactions that a source refers to."""
    tree, modules = ast.parse(source), {module: module for module in TRANSACTIONS}
    for node in ast.walk(tree):
        for each in node.names if isinstance(node, ast.ImportFrom) else ():
            whole = f"{node.module}.{each.name}"  # type: ignore[attr-defined]
            whole = REEXPORTED.get(whole, whole)
            if whole in TRANSACTIONS:
                modules[each.asname or each.name] = whole
            elif each.name in TRANSACTIONS.get(whole.rpartition(".")[0], ()):
                yield whole
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = modules.get(ast.unparse(node.value), "")
            if ast.unparse(node.value).endswith(".connections") and node.attr in OF_CONNECTIONS:
                yield f"ConnectionStore.{node.attr}"
            if node.attr in TRANSACTIONS.get(module, ()):
                yield f"{module}.{node.attr}"
