"""Answers read well, name the right tokens, and cut what is too long between characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.workflows.library import program_of, step

from assent.kernel.limits import RECAP_BYTES
from assent.workflow import Blocked, Content, Note, Warning, advance, pending, recap, start, text
from assent.workflow.machine.history import cut
from assent.workflow.tokens import Tokens

PROGRAM = program_of(step("a-step", notesOptional=False), step("next-step"), metaGuidance=["Be kind."])
SNAPSHOT = start(PROGRAM).snapshot
TOKENS = Tokens("st.v1.STATE", "ack.v1.FRESH")


@pytest.mark.rule("W76")
def test_each_answer_leads_with_the_step_and_the_next_call() -> None:
    shown = pending(PROGRAM, SNAPSHOT)
    assert shown is not None
    begun = text.write_start(PROGRAM, shown, TOKENS, [Warning("odd", "Something is odd.")])
    for part in ("# Test", "Be kind.", "Do a-step.", "st.v1.STATE", "ack.v1.FRESH", "Warning (odd)"):
        assert part in begun
    assert "Be kind." not in text.write_advance(shown, TOKENS)
    assert "complete" in text.write_completion(PROGRAM)
    assert "unchanged" in text.write_checkpoint(shown, TOKENS)
    assert begun == text.write_start(PROGRAM, shown, TOKENS, [Warning("odd", "Something is odd.")])


@pytest.mark.rule("W33")
def test_a_blocked_answer_names_the_token_for_the_retry() -> None:
    shown = pending(PROGRAM, SNAPSHOT)
    outcome = advance(PROGRAM, SNAPSHOT, Content())
    assert isinstance(outcome, Blocked) and shown is not None
    answer = text.write_blocked(outcome, TOKENS)
    assert "new ackToken" in answer and "ack.v1.FRESH" in answer and "notes_required" in answer


@pytest.mark.rule("W20", "W46")
def test_a_rehydrated_answer_recaps_the_notes_newest_kept() -> None:
    shown = pending(PROGRAM, SNAPSHOT)
    notes = [Note(f"Step {n}", f"note {n} " + "x" * 3_000) for n in range(20)] + [
        Note("Checkpoint", "halfway")
    ]
    short = recap(notes)
    assert len(short.text.encode()) <= RECAP_BYTES and short.omitted + short.shown == 21
    assert "halfway" in short.text and "note 19" in short.text and "note 0 " not in short.text
    answer = text.write_rehydration(PROGRAM, shown, TOKENS, short, "## Branches", (), {"way": "left"})
    for part in ("Be kind.", f"({short.omitted} older notes", "## Branches", "way: left", "ack.v1.FRESH"):
        assert part in answer


def test_a_resumed_run_hears_its_rules_in_short_and_not_what_had_to_hold_before_it() -> None:
    rules = [f"RULE {n}: keep this. " + "It has a long explanation. " * 10 for n in range(6)]
    program = program_of(
        step("a-step"), metaGuidance=rules, preconditions=["Have a bug."], clarificationPrompts=["Which bug?"]
    )
    shown = pending(program, start(program).snapshot)
    begun = text.write_start(program, shown, TOKENS)
    answer = text.write_rehydration(program, shown, TOKENS, recap([]))
    assert all(part in begun for part in ("Have a bug.", "Which bug?", *rules[0].split(". ")))
    assert "Have a bug." not in answer and "Which bug?" not in answer
    assert all(f"RULE {n}: keep this." in answer for n in range(6)) and "explanation" not in answer
    assert '"mode":"metadata"' in answer
    assert "RULE 0" not in text.write_rehydration(program, shown, TOKENS, recap([]), rules=False)


@pytest.mark.rule("W50")
@given(
    st.sampled_from(["é", "€", "😀"]), st.integers(0, 4), st.integers(4_000, 6_000), st.integers(40, 4_000)
)
def test_a_cut_never_splits_a_character(char: str, shift: int, count: int, most: int) -> None:
    whole = "a" * shift + char * count
    shown = cut(whole, most)
    assert len(shown.encode()) <= most and "\ufffd" not in shown
    kept, marker = shown.split(" [… cut")
    assert whole.startswith(kept) and marker


@pytest.mark.rule("W50")
@given(st.lists(st.tuples(st.sampled_from("xé€😀"), st.integers(0, 12_000)), max_size=6))
def test_a_recap_stays_within_its_budget(parts: list[tuple[str, int]]) -> None:
    notes = [Note(f"Step {n}", char * count) for n, (char, count) in enumerate(parts)]
    short = recap(notes)
    assert len(short.text.encode()) <= RECAP_BYTES
    assert short.shown + short.omitted == sum(bool(note.text) for note in notes)
