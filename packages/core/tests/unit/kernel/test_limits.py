"""Limits are what the contract says, and each says why."""

from __future__ import annotations

import ast
from pathlib import Path

from assent.kernel import limits


def test_the_contract_s_own_numbers_stand() -> None:
    assert limits.RATE_LIMIT_PER_MINUTE == 60
    assert limits.SIGNUPS_PER_HOUR == 5
    assert limits.MAX_BODY_BYTES == 1024 * 1024
    assert limits.MAX_JSON_DEPTH == 64
    assert limits.IDEMPOTENCY_TTL_MS >= 30 * 24 * 3600 * 1000
    assert limits.MIN_SECRET_BYTES >= 32


def test_every_limit_is_a_positive_number_with_its_reason_beside_it() -> None:
    source = Path(limits.__file__).read_text()
    body = ast.parse(source).body
    units = {"SECOND_MS", "MINUTE_MS", "HOUR_MS", "DAY_MS"}
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            assert getattr(limits, name) > 0
            documented = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            assert documented or name in units, f"{name} does not say why"
