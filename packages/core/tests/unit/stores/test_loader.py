"""The statement files: what is compiled from them, and what is refused when they are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import astuple

from assent.ports import Statement
from assent.sql.loader import NOT_HERE, SKIPPED, StatementError, Statements, compile_blocks, load, parse


def compiled(text: str) -> dict[str, Statement]:
    return compile_blocks(parse(text, "test.sql"))


def test_a_name_becomes_a_position_in_each_driver_s_style() -> None:
    found = compiled("-- name: find\n-- Why.\nSELECT :b, :a, :b FROM t WHERE x = :a;\n")["find"]
    assert found == Statement(
        name="find",
        sqlite="SELECT ?1, ?2, ?1 FROM t WHERE x = ?2",
        postgres="SELECT $1, $2, $1 FROM t WHERE x = $2",
        params=("b", "a"),
        writes=False,
    )


def test_values_are_bound_by_name_in_that_order() -> None:
    find = compiled("-- name: find\n-- Why.\nSELECT :b, :a;")["find"].bound_type()
    assert astuple(find(a=1, b=2)) == (2, 1)
    assert find.statement.name == "find"


@pytest.mark.parametrize("values", [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}])
def test_missing_and_surplus_values_are_refused(values: dict[str, int]) -> None:
    find = compiled("-- name: find\n-- Why.\nSELECT :b, :a;")["find"].bound_type()
    with pytest.raises(TypeError, match=r"argument '[abc]'"):
        find(**values)


def test_a_misspelt_value_is_refused() -> None:
    find = compiled("-- name: find\n-- Why.\nSELECT :b, :a;")["find"].bound_type()
    with pytest.raises(TypeError, match=r"argument '[abc]'"):
        find(a=1, c=2)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x::text FROM t",
        "SELECT 'at 12:30; it''s :noon' FROM t",
        'SELECT "odd:name;" FROM t',
    ],
)
def test_colons_and_semicolons_that_are_not_ours_stay(sql: str) -> None:
    found = compiled(f"-- name: find\n-- Why.\n{sql};")["find"]
    assert (found.sqlite, found.postgres, found.params) == (sql, sql, ())


def test_comments_are_left_out_with_what_looks_like_a_parameter_in_them() -> None:
    found = compiled("-- name: find\n-- Why :this.\nSELECT 1 -- and :that; too\n/* or :these; */ + :one;")[
        "find"
    ]
    assert found.params == ("one",)
    assert found.sqlite.split() == ["SELECT", "1", "+", "?1"]


def test_variants_share_one_order_of_parameters() -> None:
    found = compiled(
        "-- name: take [sqlite]\n-- Why.\nSELECT :a, :b;\n-- name: take [postgres]\n-- Why.\nSELECT :b, :a FOR UPDATE;"
    )["take"]
    assert (found.sqlite, found.postgres) == ("SELECT ?1, ?2", "SELECT $2, $1 FOR UPDATE")
    assert (found.params, found.writes) == (("a", "b"), True)


def test_a_statement_for_one_store_is_no_statement_on_the_other() -> None:
    found = compiled("-- name: take [postgres only]\n-- Why.\nSELECT :a;")["take"]
    assert (found.sqlite, found.postgres) == (NOT_HERE, "SELECT $1")


def test_a_step_that_one_store_does_not_need_is_skipped_there() -> None:
    found = compiled("-- name: take [sqlite, skipped on postgres]\n-- Why.\nSELECT :a;")["take"]
    assert (found.sqlite, found.postgres) == ("SELECT ?1", SKIPPED)


def test_a_counted_statement_returns_nothing_on_sqlite() -> None:
    found = compiled("-- name: take [counted]\n-- Why.\nUPDATE t SET a = :a\nRETURNING b, c;")["take"]
    assert (found.sqlite, found.postgres) == ("UPDATE t SET a = ?1", "UPDATE t SET a = $1\nRETURNING b, c")
    assert found.counted
    twice = compiled(
        "-- name: take [sqlite, counted]\n-- Why.\nUPDATE t SET a = :a;\n"
        "-- name: take [postgres]\n-- Why.\nUPDATE t SET a = :a RETURNING b;"
    )["take"]
    assert (twice.sqlite, twice.postgres) == ("UPDATE t SET a = ?1", "UPDATE t SET a = $1 RETURNING b")
    assert twice.counted


@pytest.mark.parametrize(
    ("sql", "writes"),
    [
        ("SELECT 'update' FROM t", False),
        ("SELECT updated_at FROM t -- delete", False),
        ("insert INTO t VALUES (1)", True),
        ("WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x", True),
        ("SELECT 1 FROM t FOR SHARE", True),
    ],
)
def test_a_statement_is_known_to_write(sql: str, writes: bool) -> None:
    assert compiled(f"-- name: x\n-- Why.\n{sql};")["x"].writes is writes


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SELECT 1;", "before the first"),
        ("-- name: x\nSELECT 1;", "no comment"),
        ("-- name: x\n--\nSELECT 1;", "no comment"),
        ("-- name: x\nSELECT 1;\n-- Too late.", "no comment"),
        ("-- name: x\n-- Why.\n", "no SQL"),
        ("-- name: X y\n-- Why.\nSELECT 1;", "is not 'name'"),
        ("-- name: x [oracle]\n-- Why.\nSELECT 1;", "is not 'name'"),
        ("-- name: x\n-- Why.\nSELECT 1; SELECT 2;", "more than one"),
        ("-- name: x\n-- Why.\nSELECT 1;\n-- name: x\n-- Why.\nSELECT 2;", "already defined"),
        ("-- name: x [postgres, counted]\n-- Why.\nSELECT 1;", "counted on SQLite only"),
        ("-- name: x [counted]\n-- Why.\nUPDATE t SET a = 1;", "no RETURNING"),
        ("-- name: x [counted]\n-- Why.\nUPDATE t SET a = 1 RETURNING t.a;", "is counted"),
        ("-- name: x [counted]\n-- Why.\nWITH o AS (SELECT 1) UPDATE t SET a = 1 RETURNING a;", "is counted"),
        ("-- name: x [sqlite]\n-- Why.\nSELECT 1;", r"no \[postgres\] variant"),
        ("-- name: x [postgres]\n-- Why.\nSELECT 1;", r"no \[sqlite\] variant"),
        (
            "-- name: x\n-- Why.\nSELECT 1;\n-- name: x [sqlite]\n-- Why.\nSELECT 1;",
            "both dialects and for one",
        ),
        (
            "-- name: x [sqlite only]\n-- Why.\nSELECT 1;\n-- name: x [postgres]\n-- Why.\nSELECT 1;",
            "for one dialect and defined for both",
        ),
        (
            "-- name: x [sqlite]\n-- Why.\nSELECT :a;\n-- name: x [postgres]\n-- Why.\nSELECT :b;",
            "differ in parameters",
        ),
    ],
)
def test_what_breaks_the_format_is_refused_with_its_place(text: str, complaint: str) -> None:
    with pytest.raises(StatementError, match=rf"test\.sql.*{complaint}"):
        compiled(text)


def test_the_same_name_in_two_files_is_refused(tmp_path: Path) -> None:
    for name in ("a.sql", "b.sql"):
        (tmp_path / name).write_text("-- name: x\n-- Why.\nSELECT 1;")
    with pytest.raises(StatementError, match=r"b\.sql.*a\.sql"):
        load(tmp_path)


def test_statements_are_attributes_read_at_the_first_use(tmp_path: Path) -> None:
    statements = Statements(tmp_path)
    (tmp_path / "late.sql").write_text("-- name: find\n-- Why.\nSELECT :a;")
    assert astuple(statements.find(a=1)) == (1,)
    assert statements.find is statements.find
    with pytest.raises(AttributeError, match="fnd"):
        _ = statements.fnd
