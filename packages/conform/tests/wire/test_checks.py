"""The checks pass on this server over both stores, and each one fails where the contract is broken."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.conformance.broken import BROKEN, BrokenServer
from tests.support.conformance.proxy import replaced, says
from tests.support.conformance.site import Site

from assent_conform.checks.catalog import ALL_CHECKS
from assent_conform.checks.checking import ConformanceCheck, check, expect

pytestmark = pytest.mark.own_database

NOT_HERE = {"rate_refusal", "clean_output"}
"""Checks that have something to look at only on a server with a low limit, or on a command."""


def each_check() -> list[Any]:
    return [
        pytest.param(each, marks=pytest.mark.rule(*each.rules), id=each.name)
        for each in ALL_CHECKS
        if each.name not in NOT_HERE
    ]


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.parametrize("each", each_check())
async def test_this_server_conforms(site: Site, each: ConformanceCheck) -> None:
    report = await site.run(each)
    assert [(outcome.status, outcome.detail) for outcome in report.outcomes] == [("passed", None)]
    assert report.ok


@pytest.mark.slow
@pytest.mark.parametrize("database", ["postgres"])
async def test_this_server_conforms_on_the_other_store(site: Site) -> None:
    report = await site.run(*(each for each in ALL_CHECKS if each.name not in NOT_HERE))
    assert [outcome for outcome in report.outcomes if outcome.status != "passed"] == []
    assert report.ok


@pytest.mark.rule("E53")
@pytest.mark.parametrize("changed_settings", [{"signups_per_hour": 0}], ids=["closed"])
async def test_a_server_without_sign_up_conforms_if_it_says_that_no_repetition_helps(
    site: Site, changed_settings: dict[str, Any]
) -> None:
    [no_key] = [each for each in ALL_CHECKS if each.name == "no_key"]
    assert (await site.run(no_key)).ok
    retried = replaced('retryable(\\\\?)":false', r'retryable\1":true', says("tools/call"))
    assert not (await site.run(no_key, through=retried)).ok


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.defect.replace(" ", "_"))
async def test_a_broken_server_fails_the_checks_of_its_rule_and_passes_the_others(
    site: Site, broken: BrokenServer
) -> None:
    report = await site.run(*ALL_CHECKS, through=broken.make(site.keys))
    failed = {outcome.name: outcome.detail for outcome in report.outcomes if outcome.status == "failed"}
    assert failed.keys() == broken.fails, failed
    covered = {rule for outcome in report.outcomes if outcome.name in failed for rule in outcome.rules}
    assert broken.rule in covered
    assert not report.ok


def test_every_check_has_its_broken_server() -> None:
    """A command with a line of its own on standard output is in the tests of the wires."""
    seen_to_fail = {name for broken in BROKEN for name in broken.fails} | {"clean_output"}
    assert seen_to_fail == {each.name for each in ALL_CHECKS}
    assert len({broken.defect for broken in BROKEN}) == len(BROKEN)
    assert len({broken.rule for broken in BROKEN}) >= 40


def test_no_two_checks_have_one_name() -> None:
    assert len({each.name for each in ALL_CHECKS}) == len(ALL_CHECKS)


@pytest.mark.parametrize("words", [("E25",), ("a title alone",), ("E25", "E26"), ("rule", "a title")])
def test_a_check_without_rules_or_title_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="names its rules"):
        check(*words)


def test_what_fails_says_what_was_found_and_not_all_of_it() -> None:
    with pytest.raises(AssertionError, match=r"it holds \(found x{200}…\)"):
        expect(False, "it holds", "x" * 1_000)
