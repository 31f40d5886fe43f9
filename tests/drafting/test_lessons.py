"""A second launch differs from the first because of what was rejected, edited and measured."""

from __future__ import annotations

import pytest
from tests.drafting.products import PRODUCTS

from assent.drafting.composer import ALIKE, compose, launch_angle
from assent.drafting.evidence import Evidence, MemoryEntry, gather
from assent.drafting.lessons import (
    Edit,
    Lessons,
    Performance,
    RefusedClaim,
    Rejection,
    ranked_channels,
    replacements,
    rules_from,
)
from assent.drafting.records import Composed

EVIDENCE = gather(
    product_url="https://ledgerly.example",
    repo_context={
        "whatChanged": "Added recurring invoices 🎉. Fixed the export of credit notes!",
        "readme": "# Ledgerly\n\nLedgerly sends your invoices and reminds late clients politely. It saves freelancers "
        "four hours a week.\n\n- Payment links\n- Time tracking\n",
        "targetCustomer": "Freelance designers",
    },
    brand={"pillars": ["Freelancing"]},
)


def draft(channel: str, evidence: Evidence, lessons: Lessons = Lessons()) -> Composed:  # noqa: B008 - frozen
    written = compose(channel, evidence, lessons)
    assert isinstance(written, Composed), written
    return written


@pytest.mark.parametrize("channel", ["linkedin", "x", "email", "site"])
def test_a_rejected_draft_does_not_open_the_same_way_again(channel: str) -> None:
    first = draft(channel, EVIDENCE)
    lessons = Lessons(rejections=(Rejection(entry_id="r1", text=first.body, reason="Not how we talk."),))
    second = draft(channel, EVIDENCE, lessons)
    assert second.opening != first.opening
    start = 1 if channel == "email" else 0
    assert second.body.split("\n\n")[start] != first.body.split("\n\n")[start]
    assert "r1" in {use.entry_id for use in second.memory_used}
    assert any("Opens differently" in told for told in second.recommendations)


def test_every_opening_can_be_rejected_and_a_draft_still_comes() -> None:
    rejections: list[Rejection] = []
    seen = []
    for number in range(30):
        written = draft("linkedin", EVIDENCE, Lessons(rejections=tuple(rejections)))
        seen.append(written.opening)
        rejections.append(Rejection(entry_id=f"r{number}", text=written.body, reason="no"))
    assert len(set(seen)) >= 5


@pytest.mark.parametrize(
    ("reason", "gone"),
    [
        ("No emojis please", "🎉"),
        ("lose the hashtags", "#Freelancing"),
        ("We never use exclamation marks", "!"),
        ("zu werblich", "#Freelancing"),
        ('Do not say "reminds late clients politely" again', "reminds late clients politely"),
    ],
)
def test_what_a_reason_names_is_gone_from_the_next_draft(reason: str, gone: str) -> None:
    first = draft("linkedin", EVIDENCE)
    assert gone in first.body
    lessons = Lessons(rejections=(Rejection(entry_id="r1", text="Something else entirely.", reason=reason),))
    second = draft("linkedin", EVIDENCE, lessons)
    assert gone not in second.body
    assert [use.entry_id for use in second.memory_used] == ["r1"]


TOO_LONG = Lessons(rejections=(Rejection(entry_id="r1", text="Other text.", reason="Way too long."),))


@pytest.mark.parametrize("channel", ["linkedin", "email", "x", "site", "landing"])
def test_memory_is_named_for_a_shorter_draft_just_where_it_is_shorter(channel: str) -> None:
    before, after = draft(channel, EVIDENCE), draft(channel, EVIDENCE, TOO_LONG)
    shorter = len(after.body) < len(before.body)
    assert shorter or after.body == before.body
    assert [use.entry_id for use in after.memory_used] == (["r1"] if shorter else [])
    assert any("Kept shorter" in told for told in after.recommendations) == shorter


@pytest.mark.parametrize("channel", ["linkedin", "site"])
def test_a_draft_that_was_too_long_is_shorter_next_time(channel: str) -> None:
    assert len(draft(channel, EVIDENCE, TOO_LONG).body) < len(draft(channel, EVIDENCE).body)


def test_what_a_human_wrote_instead_is_written_next_time() -> None:
    edit = Edit(
        entry_id="e1",
        before="Ledgerly sends your invoices and reminds late clients politely. Have a look!",
        after="Ledgerly sends your bills and reminds slow payers politely. Have a look.",
    )
    written = draft("linkedin", EVIDENCE, Lessons(edits=(edit,)))
    assert "Ledgerly sends your bills and reminds slow payers politely." in written.body
    assert "recurring bills" in written.body
    assert "!" not in written.body
    assert "e1" in {use.entry_id for use in written.memory_used}
    assert all(claim.supported for claim in written.claims)
    assert any("“bills”" in told for told in written.recommendations)


def test_a_replacement_leaves_addresses_alone() -> None:
    edit = Edit(entry_id="e1", before="Our ledgerly is here", after="Our Ledger is here")
    assert "https://ledgerly.example" in draft("linkedin", EVIDENCE, Lessons(edits=(edit,))).body


def test_numbers_addresses_and_small_words_are_no_voice() -> None:
    assert (
        replacements("We have 12 users at https://a.example", "We have 15 users at https://b.example") == []
    )
    assert replacements("the cat sat on a mat", "a cat sat on the mat") == []
    assert replacements("This is awesome stuff", "This is useful stuff") == [("awesome", "useful")]


def test_the_angle_that_worked_leads() -> None:
    first = draft("linkedin", EVIDENCE)
    assert first.angle == "change"
    results = (
        Performance(entry_id="p1", channel="linkedin", angle="change", metric="clicks", value=4),
        Performance(entry_id="p2", channel="linkedin", angle="audience", metric="clicks", value=41),
    )
    second = draft("linkedin", EVIDENCE, Lessons(performance=results))
    assert second.angle == "audience"
    assert "freelance designers" in second.body.partition("\n")[0]
    assert "p2" in {use.entry_id for use in second.memory_used}
    assert "Leads with whom it is for, which brought the most clicks before." in second.recommendations
    assert launch_angle(EVIDENCE, Lessons(performance=results)).kind == "audience"


def test_numbers_of_another_channel_count_where_this_one_has_none() -> None:
    results = (Performance(entry_id="p1", channel="site", angle="value", metric="views", value=9),)
    assert draft("x", EVIDENCE, Lessons(performance=results)).angle == "value"


def test_nothing_came_back_teaches_nothing() -> None:
    results = (Performance(entry_id="p1", channel="linkedin", angle="value", metric="clicks", value=0),)
    assert draft("linkedin", EVIDENCE, Lessons(performance=results)) == draft("linkedin", EVIDENCE)


def test_a_refused_claim_is_not_made_again() -> None:
    claim = "It saves freelancers four hours a week."
    assert claim in draft("linkedin", EVIDENCE).body
    written = draft("linkedin", EVIDENCE, Lessons(refused_claims=(RefusedClaim(entry_id="c1", text=claim),)))
    assert "four hours" not in written.body
    assert "c1" in {use.entry_id for use in written.memory_used}


def test_the_channel_that_worked_comes_first() -> None:
    results = (Performance(entry_id="p1", channel="email", angle="value", metric="clicks", value=9),)
    assert ranked_channels(["x", "linkedin", "email"], Lessons(performance=results)) == (
        "email",
        "x",
        "linkedin",
    )
    assert ranked_channels(["x", "linkedin"], Lessons()) == ("x", "linkedin")


def test_a_remembered_proof_and_fact_are_quoted_and_named() -> None:
    evidence = gather(
        repo_context={"whatChanged": "Added quiet hours"},
        brand={"name": "Cronicle"},
        entries=[
            MemoryEntry(entry_id="f1", kind="repo_fact", text="Cronicle runs on your own machines."),
            MemoryEntry(entry_id="p1", kind="proof", text="“It found a job that had not run since May.” Jo"),
            MemoryEntry(entry_id="x1", kind="channel_performance", text="x: 12 clicks"),
        ],
    )
    written = draft("linkedin", evidence)
    assert "Cronicle runs on your own machines." in written.body
    assert "“It found a job that had not run since May.” Jo" in written.body
    assert {use.entry_id for use in written.memory_used} == {"f1", "p1"}


def test_what_is_learned_changes_every_product() -> None:
    for product in PRODUCTS:
        evidence = product.evidence()
        first = draft("linkedin", evidence)
        lessons = Lessons(
            rejections=(Rejection(entry_id="r1", text=first.body, reason="no emoji, no hashtags"),)
        )
        second = draft("linkedin", evidence, lessons)
        assert second.body != first.body or second.warnings[-1] == ALIKE, product.id
        assert (second.body == first.body) == (product.id == "rihla")


def test_rules_are_bounded_whatever_is_remembered() -> None:
    hostile = Rejection(entry_id="r", text="a" * 50_000, reason='"' * 5_000 + " never say " * 2_000)
    edit = Edit(entry_id="e", before="word " * 20_000, after="other " * 20_000)
    assert len(rules_from(Lessons(rejections=(hostile,) * 200, edits=(edit,) * 60), "x")) <= 120


def test_an_edit_that_cannot_be_compared_within_its_steps_teaches_nothing() -> None:
    assert replacements("We go go go " * 375, "We go go on " * 375) == []


def test_what_the_newest_edits_teach_is_learned_before_the_steps_are_used_up() -> None:
    endless = [
        Edit(entry_id=f"old-{number}", before=f"{number} " + "go go go " * 400, after="go go on " * 400)
        for number in range(30)
    ]
    newest = Edit(entry_id="new", before="This is awesome stuff.", after="This is useful stuff.")

    rules = rules_from(Lessons(edits=(*endless, newest)), "linkedin")

    assert [(rule.value, rule.after) for rule in rules if rule.kind == "replace"] == [("awesome", "useful")]
