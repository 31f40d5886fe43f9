"""The rules of a diagnosis: each fires on what it is about, stays silent on too little, and names its source."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.gate.content.check import find_flaw
from assent.kernel.limits import DAY_MS
from assent.kernel.times import iso_time
from assent_launch.diagnosis import (
    OWN_RECORD,
    RULES,
    ActionFacts,
    ChannelReading,
    DiagnosisFacts,
    Learned,
    Silence,
    as_text,
    diagnose,
)
from assent_launch.learning.metrics import NO_SOURCE, amount

NOW = 1_790_000_000_000
OTHERS = ("delivered", "bounced", "complained", "position", "conversions", "karma")


def read(
    channel: str = "linkedin", source: str = "zernio", run: str = "r1", days: int = 0, **metrics: float
) -> Any:
    return ChannelReading(
        channel=channel, source=source, at_ms=NOW - days * DAY_MS, run_id=run, metrics=metrics
    )


def deed(status: str = "executed", days: int = 1, **more: Any) -> ActionFacts:
    made_ms = NOW - days * DAY_MS
    facts: dict[str, Any] = {
        "action_id": "a1",
        "run_id": "r1",
        "channel": "linkedin",
        "connector": "zernio",
        "status": status,
        "execution_state": "done",
        "created_ms": made_ms,
        "executed_ms": made_ms if status == "executed" else None,
    }
    return ActionFacts(**{**facts, **more})


def facts(*known: Any, **more: Any) -> DiagnosisFacts:
    return DiagnosisFacts(
        now_ms=NOW,
        observations=tuple(each for each in known if isinstance(each, ChannelReading)),
        actions=tuple(each for each in known if isinstance(each, ActionFacts)),
        **more,
    )


FIRES: dict[str, list[tuple[Any, ...]]] = {
    "outcome_unknown": [(deed("approved", execution_state="outcome_unknown"),)],
    "sends_fail": [(deed("failed"),)],
    "not_connected": [(deed("approved", ready=False),), (deed("awaiting_approval", ready=False),)],
    "mail_bounces": [(read("email", "resend", bounced=1, delivered=19),)],
    "mail_complaints": [(read("email", "resend", complained=1, delivered=500, opened=300),)],
    "not_seen": [(read(views=0),), (read(impressions=0, likes=0),), (read("email", delivered=40, opened=0),)],
    "seen_not_answered": [(read(impressions=20, likes=0),), (read("email", opened=40, clicked=0),)],
    "visitors_do_nothing": [(read("web", "ga4", sessions=20, conversions=0),)],
    "drafts_rejected": [(deed("rejected", rejection="too loud"), deed("rejected"), deed("executed"))],
    "decisions_wait": [(deed("awaiting_approval", days=2, execution_state="none"),)],
}
SILENT: dict[str, list[tuple[Any, ...]]] = {
    "outcome_unknown": [(deed(),)],
    "sends_fail": [(deed("rejected"),)],
    "not_connected": [(deed("executed", ready=False),), (deed("approved"),)],
    "mail_bounces": [(read("email", bounced=1, delivered=99),), (read("email", bounced=5),)],
    "mail_complaints": [(read("email", delivered=500),)],
    "not_seen": [
        (read(likes=0),),
        (read(views=1),),
        (read(views=0, clicks=2),),
        (read(impressions=0, views=30),),
        (read("email", delivered=40),),
        (read(views=0), deed(days=0)),
    ],
    "seen_not_answered": [
        (read(impressions=19, likes=0),),
        (read(impressions=500),),
        (read("email", delivered=500, clicked=0),),
        (read(impressions=500, likes=0, comments=1),),
    ],
    "visitors_do_nothing": [(read("web", sessions=500),), (read("web", sessions=19, conversions=0),)],
    "drafts_rejected": [(deed("rejected"),), (deed("rejected"), deed("rejected"), deed(), deed())],
    "decisions_wait": [
        (deed("awaiting_approval", days=1),),
        (deed("awaiting_approval", days=40, expired=True),),
    ],
}


def test_every_rule_has_an_example_on_which_it_fires_and_one_on_which_it_does_not() -> None:
    assert set(FIRES) == set(SILENT) == {rule.id for rule in RULES}


@pytest.mark.rule("E100")
@pytest.mark.parametrize(("rule", "known"), [(rule, each) for rule, cases in FIRES.items() for each in cases])
def test_a_rule_fires_with_its_numbers_their_source_and_their_date(rule: str, known: tuple[Any, ...]) -> None:
    [finding] = [each for each in diagnose(facts(*known)).findings if each.rule == rule]

    assert finding.numbers
    first = known[0]
    if isinstance(first, ChannelReading):
        assert (finding.source, finding.read_at) == (first.source, iso_time(first.at_ms))
    else:
        assert (finding.source, finding.read_at) == (OWN_RECORD, iso_time(NOW))
    for value in finding.numbers.values():
        assert amount(value) in finding.problem or f"{100 * value:.1f}" in finding.problem or value == 1
    assert finding.call.name.startswith("chieflab_")
    assert finding.try_next


def test_what_a_provider_refused_is_its_word_and_the_next_call_says_what_it_needs() -> None:
    [finding] = diagnose(facts(deed("failed"))).findings
    assert finding.problem == "The provider refused one action on linkedin."
    assert (finding.call.name, finding.call.args) == ("chieflab_post", {"channel": "linkedin"})
    assert set(finding.call.needs or ()) == {"body"}
    [unknown] = diagnose(facts(deed(execution_state="outcome_unknown"))).findings
    assert unknown.problem == "It is not known whether one action went out."


@pytest.mark.parametrize(
    ("rule", "known"), [(rule, each) for rule, cases in SILENT.items() for each in cases]
)
def test_a_rule_is_silent_where_there_is_too_little_or_nothing_wrong(
    rule: str, known: tuple[Any, ...]
) -> None:
    assert rule not in [each.rule for each in diagnose(facts(*known)).findings]


@pytest.mark.rule("E100")
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(
                ["impressions", "views", "reach", "opened", "sessions", "clicks", "likes", *OTHERS]
            ),
            st.floats(0, 1e6),
            max_size=6,
        ),
        max_size=5,
    )
)
def test_no_finding_names_a_metric_that_its_source_did_not_report(
    given_metrics: list[dict[str, float]],
) -> None:
    known = [
        ChannelReading(channel="x", source="zernio", at_ms=NOW, run_id=f"r{n}", metrics=metrics)
        for n, metrics in enumerate(given_metrics)
    ]

    for finding in diagnose(facts(*known)).findings:
        of = next(each for each in known if each.run_id == finding.run_id)
        assert set(finding.numbers) <= set(of.metrics)


def test_without_anything_it_says_so_and_what_would_bring_numbers() -> None:
    found = diagnose(facts(unconnected=("ga4",)))

    assert (found.has_data, found.findings) == (False, ())
    assert [each.call.name for each in found.missing_data] == [
        "chieflab_launch_product",
        "chieflab_connect_provider",
    ]
    text = as_text(found)
    assert "no numbers" in text
    assert find_flaw(text) is None


def test_what_is_missing_says_why_and_who_could_bring_it() -> None:
    known = facts(
        deed(),
        goal="more signups",
        silences=(
            Silence(channel="x", source="zernio", reason="its numbers lag two days"),
            Silence(channel="hn", source="manual", reason=NO_SOURCE),
        ),
        due_ms=(NOW + DAY_MS,),
    )

    missing = diagnose(known).missing_data

    assert [each.call.name for each in missing] == [
        "chieflab_status",
        "chieflab_status",
        "chieflab_record_manual_metrics",
        "chieflab_list_connectors",
    ]
    assert "lag two days" in missing[1].how
    assert "signups" in missing[3].what


def test_the_heaviest_comes_first_and_among_equals_what_the_goal_speaks_of() -> None:
    known = (
        read("x", impressions=50, likes=0),
        read("linkedin", impressions=50, likes=0),
        deed("awaiting_approval", days=9),
    )

    plain = diagnose(facts(*known)).findings
    aimed = diagnose(facts(*known, goal="Why is LinkedIn not working?")).findings

    assert [(each.weight, each.channel) for each in plain][:2] == [("high", "x"), ("high", "linkedin")]
    assert [each.channel for each in aimed][:2] == ["linkedin", "x"]
    assert diagnose(facts(*known[::-1], goal="What next?")).findings[0].channel == "linkedin", (
        "x is a word, no letter"
    )
    assert plain[-1].rule == aimed[-1].rule == "decisions_wait"


def test_the_text_is_for_a_human() -> None:
    lesson = Learned(entry_id="e1", body="Screenshots get replies.", source="Ada", at=iso_time(NOW))
    found = diagnose(
        facts(read(impressions=50, likes=0), deed("failed", last_attempt="401"), lessons=(lesson,))
    )

    text = as_text(found)

    assert "50 impressions" in text and "zernio" in text and "Screenshots get replies." in text
    assert find_flaw(text) is None


def test_a_large_number_is_written_out() -> None:
    said = [amount(value) for value in (1_234_567, 0.5, 12.0, 0.0123, 18.25, 1_234.56)]
    assert said == ["1,234,567", "0.5", "12", "0.0123", "18.25", "1,234.6"]
