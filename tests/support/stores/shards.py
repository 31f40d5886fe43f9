"""Whether a statement stays on one shard, where tables are spread by `workspace_id`: by PostgreSQL's own parser.

A statement stays if every table of every level of it has a `workspace_id` that equals one parameter or constant,
directly or over equalities of the same level: what an outer level says does not reach the shards of an inner one.
Reference tables are everywhere. The rules are stricter than Citus in a few forms, and looser in none that was found by
running every statement on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pglast

ast: Any = pglast.ast
"""Nodes are read by their fields, of which the parser says that each may be missing."""

KEY = "workspace_id"
Found = tuple[tuple[str, ...], frozenset[str]]
"""What keeps a level off one shard, and the workspaces that it names."""


def judge(sql: str, reference: frozenset[str]) -> list[str]:
    """List what keeps a statement off one shard; nothing for one that stays there."""
    statement = pglast.parse_sql(sql)[0].stmt
    problems, keys = _Judge(reference).level(statement, {})
    found = set(problems)
    if len(keys) > 1:
        found.add(f"it names {len(keys)} workspaces")
    if not isinstance(statement, ast.SelectStmt) and any(
        isinstance(each, ast.CaseExpr) and each.arg is not None for each in _walk(statement)
    ):
        found.add("CASE x WHEN in a write")
    return sorted(found)


class _Judge:
    def __init__(self, reference: frozenset[str]) -> None:
        self._reference = reference

    def level(self, query: Any, known: Mapping[str, Found]) -> Found:
        common = dict(known)
        problems: list[str] = []
        keys: set[str] = set()

        def add(found: Found) -> None:
            problems.extend(found[0])
            keys.update(found[1])

        clause = getattr(query, "withClause", None)
        for each in clause.ctes if clause else ():
            if each.aliascolnames:
                problems.append(f"the columns of {each.ctename} are named after it")
            common[each.ctename] = self.level(each.ctequery, common)
            add(common[each.ctename])
            if isinstance(query, ast.InsertStmt) and not isinstance(each.ctequery, ast.SelectStmt):
                problems.append("a change feeds an INSERT")
        if isinstance(query, ast.InsertStmt):
            self._insert(query, common, add, problems, keys)
            return tuple(problems), frozenset(keys)
        if isinstance(query, ast.SelectStmt) and query.op.name != "SETOP_NONE":
            add(self.level(query.larg, common))
            add(self.level(query.rarg, common))
            return tuple(problems), frozenset(keys)

        items: list[Any] = []
        if isinstance(query, ast.SelectStmt):
            items = list(query.fromClause or ())
            parts = [query.whereClause, query.targetList, query.havingClause, query.sortClause]
        elif isinstance(query, ast.UpdateStmt):
            items = [query.relation, *(query.fromClause or ())]
            parts = [query.whereClause, query.targetList, query.returningClause]
        else:
            items = [query.relation, *(query.usingClause or ())]
            parts = [query.whereClause, query.returningClause]
        tables: dict[str, str] = {}
        names: set[str] = set()
        conditions = list(_split(query.whereClause))
        for item in items:
            self._source(item, common, add, tables, names, conditions, parts)
        pinned = _pin(names, conditions)
        for alias, table in tables.items():
            if table in self._reference:
                continue
            if alias in pinned:
                keys.add(pinned[alias])
            else:
                locked = ", and it is locked" if getattr(query, "lockingClause", None) else ""
                problems.append(f"{table} is not in one workspace{locked}")
        for each in _inner(parts):
            add(self.level(each, common))
        return tuple(problems), frozenset(keys)

    def _source(
        self,
        item: Any,
        common: Mapping[str, Found],
        add: Any,
        tables: dict[str, str],
        names: set[str],
        conditions: list[Any],
        parts: list[Any],
    ) -> None:
        if isinstance(item, ast.RangeVar):
            alias = item.alias.aliasname if item.alias else item.relname
            names.add(alias)
            if item.relname not in common:
                tables[alias] = item.relname
        elif isinstance(item, ast.JoinExpr):
            for side in (item.larg, item.rarg):
                self._source(side, common, add, tables, names, conditions, parts)
            conditions.extend(_split(item.quals))
            parts.append(item.quals)
        elif isinstance(item, ast.RangeSubselect):
            names.add(item.alias.aliasname if item.alias else "")
            add(self.level(item.subquery, common))

    def _insert(
        self, query: Any, common: Mapping[str, Found], add: Any, problems: list[str], keys: set[str]
    ) -> None:
        table, rows = query.relation.relname, query.selectStmt
        if table not in self._reference:
            columns = [column.name for column in query.cols or ()]
            values = _strip(rows.valuesLists[0][columns.index(KEY)]) if rows.valuesLists else None
            if values is not None and (key := _value(values)) is not None:
                keys.add(key)
            elif values is not None:
                problems.append(f"the workspace of {table} is computed")
            else:
                add(self.level(rows, common))
                problems.append(f"an INSERT into {table} of what a SELECT gives")
        parts = [query.onConflictClause, query.returningClause, rows.valuesLists]
        if any(True for _ in _inner(parts)):
            problems.append("a subquery in an INSERT")


def _pin(names: set[str], conditions: list[Any]) -> dict[str, str]:
    """Return the workspace of each name that has one."""
    pinned: dict[str, str] = {}
    equal: list[tuple[str, str]] = []
    for each in conditions:
        if not (isinstance(each, ast.A_Expr) and each.kind.name == "AEXPR_OP" and each.name[-1].sval == "="):
            continue
        sides = [_strip(each.lexpr), _strip(each.rexpr)]
        owners = [_owner(side, names) for side in sides]
        values = [_value(side) for side in sides]
        for owner, value in zip(owners, reversed(values), strict=True):
            if owner is not None and value is not None:
                pinned[owner] = value
        if owners[0] is not None and owners[1] is not None:
            equal.append((owners[0], owners[1]))
    for _ in equal:
        for one, other in equal:
            for name, same in ((one, other), (other, one)):
                if name in pinned:
                    pinned.setdefault(same, pinned[name])
    return pinned


def _owner(node: Any, names: set[str]) -> str | None:
    """Return whose `workspace_id` a node is."""
    if not isinstance(node, ast.ColumnRef):
        return None
    path = [field.sval for field in node.fields if isinstance(field, ast.String)]
    if not path or path[-1] != KEY:
        return None
    if len(path) == 1:
        return next(iter(names)) if len(names) == 1 else None
    return path[0] if path[0] in names else None


def _value(node: Any) -> str | None:
    if isinstance(node, ast.ParamRef):
        return f"${node.number}"
    return str(node.val) if isinstance(node, ast.A_Const) else None


def _strip(node: Any) -> Any:
    while isinstance(node, ast.TypeCast):
        node = node.arg
    return node


def _split(node: Any) -> Iterator[Any]:
    """Yield the conditions that all hold."""
    if isinstance(node, ast.BoolExpr) and node.boolop.name == "AND_EXPR":
        for each in node.args:
            yield from _split(each)
    elif node is not None:
        yield node


def _inner(parts: Any) -> Iterator[Any]:
    """Yield the queries directly inside."""
    if isinstance(parts, ast.SubLink):
        yield parts.subselect
        if parts.testexpr is not None:
            yield from _inner(parts.testexpr)
    elif isinstance(parts, list | tuple):
        for each in parts:
            yield from _inner(each)
    elif isinstance(parts, ast.Node) and not isinstance(parts, ast.SelectStmt):
        for name in parts:
            yield from _inner(getattr(parts, name))


def _walk(node: Any) -> Iterator[Any]:
    yield node
    if isinstance(node, list | tuple):
        for each in node:
            yield from _walk(each)
    elif isinstance(node, ast.Node):
        for name in node:
            yield from _walk(getattr(node, name))
