"""What changes an action is a use case, and a use case is the only caller of its transaction.

Which transactions write is read from the sources: those that reach a statement that changes a row. A new one is found
without being listed here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.support.sources import list_modules

from assent.sql.loader import STATEMENTS, parse

DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

GIVES_ON = ("assent.platform", "assent.sdk")
INSIDE = ("assent.engine.", "assent.use_cases.", *GIVES_ON)
"""A transaction may be a part of another one; the public API and the platform give names on."""

EXCEPTIONS = {
    "actions.actions.reseal_approvals": "the start of a server with a new secret",
    "actions.actions.insert_asset": "the measurement of a run, by the package that measures",
    "actions.undo.note_undone": "what follows from an execution: the reverse is noted on what it took back",
    "actions.policies.begin": "a part of the transaction that makes a workspace",
    "erasure.contents.erase_old_content": "upkeep, by a job",
    "erasure.persons.PersonEraser": "a person's data, by a command",
    "recovery.holding.hold": "the start of a server whose store was restored",
    "webhooks.long_runs.begin": "a run before it has an action",
    "webhooks.long_runs.fail": "a run that never had one",
    "workflows.bundles.import_session": "a run that is a session of the other contract",
    "workflows.sessions.step": "a step of such a session, which only an agent takes",
    "workflows.sessions.begin_run": "the first step of such a session",
}
"""What else changes an action, a run or a policy, and why."""

OF_NO_ACTION = (
    *("actions.boundary", "actions.idempotency", "actions.indexing", "audit"),
    *("connections.named_secrets", "connections.oauth"),
    *("core.brands", "core.connection_store.note_start", "core.jobs"),
    *("core.journal", "core.quota", "core.server_keys", "core.tenancy"),
    *("actions.pictures", "people", "recovery", "webhooks", "workflows"),
)
"""Those of these packages and modules change no action: accounts, keys, upkeep. Surfaces call them."""

AT_THE_START = {"app", "subscribers"}
"""They make the objects that write, and say which hooks there are."""

SIGN_UP = "people.signup.decide"
"""A decision about a stranger, though not about an action."""

OF_CONNECTIONS = {"choose", "disconnect", "ending", "save"}
"""The transactions of the connections, which are a part of the services."""


@cache
def read_sources() -> dict[str, ast.Module]:
    return {
        name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): (
            ast.parse(file.read_text(encoding="utf-8"))
        )
        for name, file in list_modules().items()
    }


def list_imports(tree: ast.AST) -> dict[str, str]:
    """The whole names of what a module imports, by the names that it uses."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                each.asname or each.name: (each.asname and each.name) or each.name for each in node.names
            }
    return found


@cache
def list_reexports() -> dict[str, str]:
    """What these modules give under another name, by that name. A module may import a name and assign it to another."""
    found: dict[str, str] = {}
    for module, tree in read_sources().items():
        if module.startswith(GIVES_ON):
            given = list_imports(tree)
            for node in ast.walk(tree):
                if (
                    isinstance(node, ast.Assign)
                    and isinstance(node.value, ast.Name)
                    and node.value.id in given
                ):
                    given |= {name_of(each): given[node.value.id] for each in node.targets}
            found |= {f"{module}.{name}": origin for name, origin in given.items()}
    return found


def list_uses(node: ast.AST, module: str, imports: dict[str, str]) -> Iterator[str]:
    """The whole names that a part of a module refers to, but for its annotations."""
    left = [node]
    while left:
        each = left.pop()
        if isinstance(each, ast.Name | ast.Attribute):
            held, _, name = name_of(each).rpartition(".")
            if held.endswith(".connections") and name in OF_CONNECTIONS:
                yield f"ConnectionStore.{name}"
            origin = imports.get(held, "")
            whole = (
                f"{list_reexports().get(origin, origin)}.{name}"
                if held
                else imports.get(name, f"{module}.{name}")
            )
            yield list_reexports().get(whole, whole)
        for field in each._fields:
            value = getattr(each, field, None)
            if isinstance(value, list):
                left += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST) and field not in ("annotation", "returns"):
                left.append(value)


def name_of(node: ast.AST) -> str:
    """The dotted name of an expression; what is not a name is left out."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@cache
def list_module_uses(module: str) -> dict[str, frozenset[str]]:
    """What each function and class of a module refers to, by its whole name, and under "" what the rest refers to."""
    tree = read_sources()[module]
    imports = list_imports(tree)
    found: dict[str, frozenset[str]] = {}
    for node in tree.body:
        name = f"{module}.{node.name}" if isinstance(node, DEFINITIONS) else ""
        found[name] = found.get(name, frozenset()) | frozenset(list_uses(node, module, imports))
    return found


@cache
def find_writers(*files: str) -> frozenset[str]:
    """The functions of the engine that reach a statement of these files that changes a row; of all files if none is
    named."""
    changes = re.compile(r"\b(INSERT INTO|DELETE FROM|(?<!FOR )(?<!FOR NO KEY )UPDATE)\b")
    written = {
        f"assent.sql.loader.statements.{block.name}"
        for file in STATEMENTS.glob("*.sql")
        if not files or file.stem in files
        for block in parse(file.read_text(encoding="utf-8"), file.name)
        if changes.search(re.sub(r"--.*", "", block.sql))
    }
    uses: dict[str, frozenset[str]] = {}
    for module in read_sources():
        if module.startswith("assent.engine."):
            uses |= list_module_uses(module)
    del uses[""]
    found: set[str] = set()
    while more := {name for name, used in uses.items() if name not in found and used & (written | found)}:
        found |= more
    return frozenset(found)


def find_callers(wanted: frozenset[str] | set[str]) -> dict[str, set[str]]:
    """The modules outside that refer to each of these functions, without the name of the package."""
    found: dict[str, set[str]] = {}
    for module in read_sources():
        if not module.startswith(INSIDE):
            for name in wanted & set().union(*list_module_uses(module).values()):
                found.setdefault(name, set()).add(module.removeprefix("assent."))
    return found


def list_use_cases() -> set[str]:
    """The whole names of the functions that surfaces call."""
    return {
        f"{module}.{node.name}"
        for module, tree in read_sources().items()
        if module.startswith("assent.use_cases.")
        for node in tree.body
        if isinstance(node, ast.AsyncFunctionDef) and not node.name.startswith("_")
    }


def shorten(names: dict[str, set[str]]) -> dict[str, set[str]]:
    return {name.removeprefix("assent.engine."): callers for name, callers in names.items()}


def test_only_a_use_case_changes_an_action() -> None:
    found = shorten(find_callers(find_writers("actions")))
    assert found.keys() == EXCEPTIONS.keys(), {name: found[name] for name in found.keys() - EXCEPTIONS.keys()}


def test_what_else_surfaces_write_is_about_no_action() -> None:
    found = shorten(find_callers(find_writers() | {f"ConnectionStore.{each}" for each in OF_CONNECTIONS}))
    left = {
        name: callers - AT_THE_START
        for name, callers in found.items()
        if name not in EXCEPTIONS and not f"{name}.".startswith(tuple(f"{each}." for each in OF_NO_ACTION))
    }
    assert {name: callers for name, callers in left.items() if callers} == {}
    assert SIGN_UP not in found


def test_writers_and_their_callers_are_found_by_each_kind_of_import() -> None:
    writers = find_writers("actions")
    for each in ("actions.decisions.approve", "actions.flood.release", "actions.execution.claim"):
        assert f"assent.engine.{each}" in writers
    assert "assent.engine.actions.decisions.describe_decider" not in writers
    assert {"assent.engine.core.freezes.freeze", f"assent.engine.{SIGN_UP}"} <= find_writers()
    approve, keep = "assent.engine.actions.decisions.approve", "assent.engine.actions.pictures.keep"
    for source, name in (
        ("from assent.engine.actions import decisions as d\nd.approve()", approve),
        ("from assent.engine.actions.decisions import approve as a\na", approve),
        ("import assent.engine.actions.decisions\nassent.engine.actions.decisions.approve()", approve),
        ("from assent.engine.actions import pictures\npictures.keep()", keep),
        ("from assent.platform import note_event\nnote_event()", "assent.engine.core.journal.note"),
        ("from assent.sdk import prepare_run as p\np()", "assent.use_cases.runs.prepare"),
        ("visit.services.connections.save(new)", "ConnectionStore.save"),
    ):
        tree = ast.parse(source)
        assert name in set(list_uses(tree, "here", list_imports(tree))), source
