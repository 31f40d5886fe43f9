"""Where tables are spread by workspace, a statement is on one shard or has its reason in `contracts/crossings.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.support.stores.shards import judge

from assent.sql.loader import NOT_HERE, SKIPPED, load
from assent.sql.schema import REFERENCE_TABLES
from assent_launch.component import COMPONENT as LAUNCH
from assent_wrap.component import COMPONENT as WRAP

CROSSINGS = Path(__file__).parents[2] / "contracts/crossings.toml"
REFERENCE = frozenset(REFERENCE_TABLES) | {table for each in (LAUNCH, WRAP) for table in each.reference}
REFUSED = ("CASE", "a subquery in an INSERT", "locked", "a change feeds", "named after it")
"""Forms that Citus refuses, or commits in two phases: no reason excuses these."""


def test_a_statement_that_is_not_on_one_shard_has_its_reason() -> None:
    statements = load()
    for component in (LAUNCH, WRAP):
        statements |= load(component.folder / "statements", component.name)
    found = {
        name: problems
        for name, each in statements.items()
        if each.postgres not in (NOT_HERE, SKIPPED) and (problems := judge(each.postgres, REFERENCE))
    }
    groups = tomllib.loads(CROSSINGS.read_text())["crossing"]
    explained = [name for group in groups for name in group["statements"]]
    assert {name: found[name] for name in found.keys() - set(explained)} == {}
    assert sorted(explained) == sorted(found)
    excused = {"list_workflow_ancestors"}  # Citus runs its recursion: the level has its workspace
    assert {
        name: problem
        for name, problems in found.items()
        for problem in problems
        if any(form in problem for form in REFUSED) and name not in excused
    } == {}


def test_the_check_finds_each_form_that_leaves_a_shard() -> None:
    one = "workspace_id = $1"
    cases = {
        "SELECT * FROM runs WHERE run_id = $1": "runs is not in one workspace",
        f"SELECT 1 FROM runs r WHERE {one} AND EXISTS (SELECT 1 FROM jobs j WHERE j.workspace_id = r.workspace_id)": (
            "jobs is not in one workspace"
        ),
        f"SELECT * FROM runs r JOIN actions a ON a.workspace_id = r.workspace_id WHERE r.{one}": "",
        f"SELECT * FROM runs WHERE {one} OR run_id = $2": "runs is not in one workspace",
        "SELECT * FROM runs r, actions a WHERE r.workspace_id = $1 AND a.workspace_id = $2": "it names 2 workspaces",
        f"SELECT * FROM runs WHERE {one} AND EXISTS (SELECT 1 FROM people)": "",
        "SELECT * FROM jobs FOR UPDATE": "jobs is not in one workspace, and it is locked",
        f"UPDATE jobs SET state = CASE state WHEN 'a' THEN 'b' END WHERE {one}": "CASE x WHEN in a write",
        "INSERT INTO runs (workspace_id, run_id) VALUES ($1, (SELECT 'x'))": "a subquery in an INSERT",
        f"WITH m AS (UPDATE streams SET seq = 1 WHERE {one} RETURNING seq) "
        "INSERT INTO events (workspace_id, seq) VALUES ($1, 1)": "a change feeds an INSERT",
        f"WITH m (x) AS (SELECT run_id FROM runs WHERE {one}) SELECT x FROM m": "the columns of m are named after it",
    }
    assert {sql: judge(sql, REFERENCE) for sql in cases} == {
        sql: [problem] if problem else [] for sql, problem in cases.items()
    }
