"""Whatever was edited, rejected and asked for: a later draft states its evidence word for word."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent_launch.channels.registry import BY_ID
from assent_launch.content.adapter import adapt_written
from assent_launch.content.evidence import gather
from assent_launch.content.note import write_note
from assent_launch.content.records import ProductFacts
from assent_launch.knowledge import as_evidence, as_lessons
from assent_launch.learning.memory import Entry

README = (
    "# Zephyr\n\nZephyr is a wind map for Android phones. It is in open beta. Made by Peter.\n\n"
    "- Offline maps on Android\n- Gusts in knots\n- Alerts before a storm\n"
)
CHANGED = "Zephyr now shows gusts. The map loads 40 tiles at once."
GIVEN = f"{README}\n{CHANGED}\nZephyr"

WORDS = st.sampled_from(
    [
        "Android",
        "iOS",
        "open beta",
        "closed beta",
        "Peter",
        "Clara",
        "wind map",
        "Zephyr",
        "gusts",
        "40",
        "It",
        "!",
        "🎉",
    ]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
REASONS = st.one_of(
    TEXTS,
    WORDS.map("Never say “{}”.".format),
    WORDS.map("Don't say {} again.".format),
    st.builds("Say “{}” instead of “{}”.".format, WORDS, WORDS),
    st.sampled_from(["too long", "No emoji", "too salesy", "wait, don't send it!", "no exclamation marks"]),
    st.text(max_size=60),
)
DECISIONS = st.one_of(
    st.builds(
        lambda before, after: ("edit", after, {"before": before, "text": after, "revision": 2}), TEXTS, TEXTS
    ),
    st.builds(lambda text, reason: ("rejection", text, {"text": text, "reason": reason}), TEXTS, REASONS),
    st.builds(lambda asked: ("lesson", asked, {"asked": True}), REASONS),
    st.builds(lambda text: ("approval", text, {"text": text}), TEXTS),
)


def entry(number: int, decision: tuple[str, str, dict[str, Any]]) -> Entry:
    kind, body, facts = decision
    return Entry(
        entry_id=f"entry-{number:03}",
        tenant_id="default",
        kind=kind,
        body=body,
        state="confirmed",
        source="decision via chat",
        channel="linkedin",
        run_id=None,
        action_id=None,
        facts=facts,
        created_ms=number,
    )


@pytest.mark.rule("E33")
@given(st.lists(DECISIONS, max_size=8), st.sampled_from(["linkedin", "site", "email", "x"]))
def test_every_statement_of_a_later_draft_is_in_the_evidence_as_given(
    decisions: list[tuple[str, str, dict[str, Any]]], channel: str
) -> None:
    kept = [entry(number, decision) for number, decision in enumerate(decisions)]
    evidence = gather(
        repo_context={"readme": README, "whatChanged": CHANGED},
        brand={"name": "Zephyr"},
        entries=as_evidence(kept),
    )

    facts = ProductFacts(evidence, as_lessons(kept))
    note = write_note(facts, BY_ID[channel], "")

    if note is not None:
        written = adapt_written(channel, note, facts)
        for claim in written.claims:
            # A title may have the name before what it is.
            assert claim.text.removeprefix("Zephyr: ").rstrip(".") in GIVEN, msgspec.to_builtins(claim)
        assert {use.entry_id for use in written.memory_used} <= {
            each.entry_id for each in kept if each.kind in ("rejection", "lesson")
        }
