"""Texts that the calling agent supplies: kept as they are, divided, titled and checked."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from assent_launch.channels.registry import BY_ID
from assent_launch.content.adapter import adapt, adapt_written
from assent_launch.content.claims import _CLOSING as CLOSING
from assent_launch.content.claims import RISKS, find_risks
from assent_launch.content.evidence import MemoryEntry, gather
from assent_launch.content.lessons import Lessons, RefusedClaim, Rejection
from assent_launch.content.note import write_note
from assent_launch.content.records import ProductFacts
from assent_launch.content.screen import without_look_around

EVIDENCE = gather(
    product_url="https://ledgerly.example",
    repo_context={
        "readme": "# Ledgerly\n\nLedgerly sends invoices and reminds late clients politely. 1,200 freelancers use it.",
        "whatChanged": "Added recurring invoices",
    },
    brand={"voice": 'Never say "synergy".'},
)


@pytest.mark.parametrize(
    "channel", ["linkedin", "bluesky", "threads", "facebook", "instagram", "tiktok", "landing"]
)
def test_a_text_that_fits_is_kept_to_the_letter(channel: str) -> None:
    text = "Ledgerly sends invoices.\n\nIt has  odd   spacing, “quotes” and 🎉"
    written = adapt(channel, text, EVIDENCE)
    assert written.body == text
    assert (written.problems, written.parts, written.source) == ((), (), "supplied")


def test_a_text_that_is_too_long_is_a_problem_and_kept() -> None:
    written = adapt("bluesky", "a" * 301, EVIDENCE)
    assert written.body == "a" * 301
    assert len(written.problems) == 1
    assert set(written.problems) <= set(written.warnings)


def test_a_long_text_for_x_becomes_a_numbered_thread() -> None:
    text = "\n\n".join(
        f"Paragraph {n} says something that takes a while to say, in some words. " * 2 for n in range(5)
    )
    written = adapt("x", text, EVIDENCE)
    assert [part.rpartition("\n\n")[2] for part in written.parts] == [f"{n}/5" for n in range(1, 6)]
    assert written.problems == ()
    assert written.body == "\n\n".join(written.parts)


def test_a_thread_that_its_author_numbered_is_left_as_it_is() -> None:
    text = "1/ First thought, " + "long " * 30 + "\n\n2/ Second thought, " + "long " * 30
    written = adapt("x", text, EVIDENCE)
    assert list(written.parts) == [part.strip() for part in text.split("\n\n")]


def test_a_thread_without_an_end_is_a_problem() -> None:
    assert adapt("x", "word " * 3_000, EVIDENCE).problems


@pytest.mark.parametrize(
    ("channel", "text", "title", "body"),
    [
        ("email", "Subject: New bills\n\nHi Jo,\n\nThey are here.", "New bills", "Hi Jo,\n\nThey are here."),
        ("email", "Hi Jo,\n\nBills are here. Enjoy.", "Bills are here", "Hi Jo,\n\nBills are here. Enjoy."),
        ("email", "Betreff: Neue Rechnungen\nHallo,\nsie sind da.", "Neue Rechnungen", "Hallo,\nsie sind da."),
        ("site", "# A page\n\nWith text.", "A page", "With text."),
        ("hn", "Title: Show HN: Ledgerly\n\nI made this.", "Show HN: Ledgerly", "I made this."),
        ("product_hunt", "Bills that chase themselves. Politely.", "Bills that chase themselves", None),
        ("reddit", "**Title:** I made a thing\n\nText", "I made a thing", "Text"),
    ],
)  # fmt: skip
def test_a_title_is_found_or_made(channel: str, text: str, title: str, body: str | None) -> None:
    written = adapt(channel, text, EVIDENCE)
    assert (written.subject or written.title) == title
    assert written.body == (text if body is None else body)
    assert written.problems == ()


def test_a_given_title_wins_and_is_checked() -> None:
    assert adapt("hn", "Text here.", EVIDENCE, title="Mine").title == "Mine"
    assert adapt("hn", "Text here.", EVIDENCE, title="m" * 81).problems


def test_an_e_mail_gets_html_of_the_same_words() -> None:
    written = adapt(
        "email",
        "Subject: S\nPreheader: P\n\nHi <b>Jo</b>,\n- one\n- two\nhttps://a.example/?a=1&b=2",
        EVIDENCE,
    )
    assert (written.subject, written.preheader) == ("S", "P")
    assert "Hi &lt;b&gt;Jo&lt;/b&gt;," in written.html
    assert "<li>one</li>" in written.html
    assert '<a href="https://a.example/?a=1&amp;b=2">' in written.html


def test_claims_are_traced_to_evidence_and_the_rest_is_said() -> None:
    text = (
        "Ledgerly reminds late clients politely. 1,200 freelancers use it. 5,000 freelancers use it. "
        "It is the best invoicing tool. What do you think?"
    )
    written = adapt("linkedin", text, EVIDENCE)
    supported = {claim.text: claim.supported for claim in written.claims}
    assert supported == {
        "Ledgerly reminds late clients politely.": True,
        "1,200 freelancers use it.": True,
        "5,000 freelancers use it.": False,
        "It is the best invoicing tool.": False,
    }
    unproved = [warning for warning in written.warnings if "nothing in the evidence" in warning]
    assert len(unproved) == 2
    assert any("5,000" in warning for warning in unproved)


def test_what_was_rejected_before_is_pointed_out() -> None:
    lessons = Lessons(
        rejections=(Rejection(entry_id="r1", reason='No emoji, and never "game changer"'),),
        refused_claims=(RefusedClaim(entry_id="c1", text="works offline"),),
    )
    written = adapt("linkedin", "A game changer 🎉: awesome synergy that works offline", EVIDENCE, lessons)
    assert {use.entry_id for use in written.memory_used} == {"r1", "c1"}
    assert len(written.warnings) == 5
    assert written.body == "A game changer 🎉: awesome synergy that works offline"
    clean = adapt("linkedin", "A handy tool for invoices", EVIDENCE, lessons)
    assert (clean.warnings, clean.memory_used) == ((), ())


@pytest.mark.parametrize(
    "told",
    [
        "Fernglass opens a 2 GB file in 19 seconds cold. Never write 11 seconds.",
        "Fernglass opens a 2 GB file in 19 seconds cold; do not say that it opens it in 11 seconds.",
        "Fernglass opens a 2 GB file in 19 seconds cold, not 11 seconds.",
        "Fernglass opens a 2 GB file in 19 seconds cold. That it opens a 2 GB file in 11 seconds is wrong.",
    ],
)
@pytest.mark.parametrize("kind", ["told_fact", "repo_fact", "proof"])
def test_what_a_fact_rules_out_is_no_evidence(told: str, kind: str) -> None:
    evidence = gather(entries=[MemoryEntry(entry_id="f1", kind=kind, text=told)])
    claims = [
        adapt("linkedin", f"Fernglass opens a 2 GB file in {seconds} seconds.", evidence).claims[0]
        for seconds in (19, 11)
    ]
    assert [bool(claim.evidence) for claim in claims] == [True, False]
    assert not any("Never" in fact.text for fact in evidence.facts)


def test_a_draft_that_says_what_is_not_so_is_supported_by_what_is() -> None:
    evidence = gather(repo_context={"readme": "# F\n\nFernglass opens a file in 19 seconds."})
    made = adapt("linkedin", "Fernglass opens a file in 19 seconds, not 11 seconds.", evidence)
    assert made.claims[0].evidence


@pytest.mark.parametrize(
    ("sentence", "risk"),
    [
        ("The fastest way to bill", "superlative"),
        ("Der beste Rechner", "superlative"),
        ("世界一の速さ", "superlative"),
        ("الأسرع في السوق", "superlative"),
        ("Ledgerly is the best invoicing tool.", "superlative"),
        ("Best invoicing tool for clubs", "superlative"),
        ("The only app that does this", "superlative"),
        ("We are the first to offer this", "superlative"),
        ("Cheaper than Stripe", "comparison"),
        ("Replaces Excel for good", "comparison"),
        ("Twice as fast", "number"),
        ("The complaint with v1 was that every refresh imported everything again.", "testimonial"),
        ("Customers love it", "testimonial"),
        ("Saves 40% of your time", "number"),
        ("For $9 a month", "number"),
        ("Cures headaches", "medical"),
        ("It treats chronic pain", "medical"),
        ("We promise that it works", "guarantee"),
        ("Earn passive income", "financial"),
        ("Guaranteed results", "guarantee"),
        ("必ず届きます", "guarantee"),
        ("HIPAA compliant storage", "compliance"),
        ("DSGVO-konform", "compliance"),
        ("Faster than 2 competing tools.", "comparison"),
        ("Faster than the first Redis.", "comparison"),
        ("Faster than version 3 of Redis", "comparison"),
        ("Cheaper than our previous favourite, Stripe", "comparison"),
        ("Cheaper than one coffee", "comparison"),
        ("Unlike Notion, it is free.", "comparison"),
        ("Half the price of Notion", "comparison"),
        ("Best, the fastest editor on earth", "superlative"),
        ("No other tool does this", "superlative"),
        ("The most popular CSV tool", "superlative"),
        ("We are the market leader", "superlative"),
        ("Clubs love it", "testimonial"),
    ],
)
def test_risky_words_are_known(sentence: str, risk: str) -> None:
    assert risk in find_risks(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Best wishes",
        "Best wishes, Kim",
        "Best,",
        "All the best, Kim",
        "Mit besten Grüßen",
        "Beste Grüße aus Wien",
        "Besten Dank",
        "I will do my best.",
        "The best part: it is small.",
        "Your order 48213 has left.",
        "It is better than nothing.",
        "We meet on Monday instead of Friday.",
        "Diagnose slow queries.",
        "The function returns a promise.",
        "It treats NULL as empty and yields a row.",
        "It works best with two screens.",
        "These are our best practices.",
        "Das geht am besten so.",
        "It is faster than before.",
        "It is simpler than our last version.",
        "Imports are faster than v1.",
        "Two clicks instead of three clicks.",
        "The new list replaces the old export.",
        "Schneller als bisher.",
        "Schneller als 1.4",
        "It is faster than in 1.4.",
        "Twice as fast as our previous parser.",
        "Our fastest release yet.",
        "Thanks a million!",
        "Perfect, thank you!",
        "This is the first time that we write to you.",
        "Here is the first draft.",
        "First, open the settings.",
        "It only takes a moment.",
        "This is the only place where it is shown.",
        "You were charged twice in October.",
        "We meet on 3 May 2026 at 14:30.",
        "It has two buttons and 3 pages.",
        "See issue #48213.",
        "Double-click the icon.",
        "It sends invoices on the day you choose.",
        "Founded in 2024.",
        "Version 2 is here.",
        "Sie sehen alle Termine.",
        "電車の中でも使えます。",
    ],
)
def test_plain_sentences_carry_no_risk(sentence: str) -> None:
    assert find_risks(sentence) == ()


def test_no_risk_is_lost_by_screening_sentences_for_all_of_them_at_once() -> None:
    words = sorted(
        {word for _, _, found in RISKS for word in re.findall(r"[a-zäöüß$€%#\d-]+", found.pattern)}
    )
    choose = random.Random(3)  # noqa: S311 - no secret
    common = [
        "the",
        "than",
        "all",
        "best",
        "our",
        "way",
        "Acme",
        "12",
        "1,200",
        "2024",
        "$5",
        "5%",
        "x",
        "#1",
        "–",
    ]
    for _ in range(20_000):
        sentence = choose.choice(" \x0b\n").join(
            choose.choices([*words, *common, *common], k=choose.randint(1, 6))
        )
        found = tuple(name for name, _, pattern in RISKS if pattern.search(sentence))
        assert find_risks(sentence) == (() if CLOSING.match(sentence) else found), sentence


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        (r"\b(?=[tw)])(?<!all \)(x))the\b(?! (?:a|b)\b)|[(?=]\(?=c", r"\bthe\b|[(?=]\(?=c"),
        (r"(?:than (?!(?:it |we )?(?:before|ever)\b)|(?-i:[A-Z]))d", r"(?:than |(?-i:[A-Z]))d"),
    ],
)
def test_a_screen_looks_for_patterns_without_look_around(pattern: str, kept: str) -> None:
    assert without_look_around(pattern) == kept


@pytest.mark.parametrize(
    "given",
    [
        {"whatChanged": "Refreshing 3 GB takes 4 seconds now."},
        {"recentCommits": ["perf: refresh of 3 GB in 4 seconds"]},
        {"readme": "# Tern\n\nA refresh of 3 GB takes 4 seconds."},
        {
            "launchGoal": "tell people that a refresh of 3 GB takes 4 seconds",
            "readme": "# Tern\n\nTern is a CLI.",
        },
    ],
)
def test_numbers_that_the_user_gave_are_evidence_wherever_they_were_given(given: dict[str, Any]) -> None:
    evidence = gather(repo_context=given)
    text = "Tern is here. With it you refresh a table of 3 GB in 4 seconds."
    assert adapt("linkedin", text, evidence).warnings == ()
    invented = adapt("linkedin", text.replace("4 seconds", "2 seconds"), evidence)
    assert ["nothing in the evidence" in warning for warning in invented.warnings] == [True]


def test_an_amount_is_the_same_with_its_unit_in_short_or_in_full() -> None:
    evidence = gather(repo_context={"whatChanged": "Refreshing 3 GB of CSV takes 4 s instead of 90 s."})
    text = "Refreshing 3 GB of CSV took 90 seconds."
    assert adapt("linkedin", text, evidence).warnings == ()
    assert adapt("linkedin", text.replace("90 seconds", "90 minutes"), evidence).warnings


def test_a_number_in_the_name_of_a_product_takes_no_support_from_the_other_numbers_of_a_sentence() -> None:
    changed = ["Offline tide tables for 4,000 harbours", "Offline maps", "A widget with the next high tide"]
    evidence = gather(repo_context={"whatChanged": changed, "launchGoal": "Launch Tidewater 2"})
    text = "Tidewater 2 is out tonight: offline tide tables for 4,000 harbours, and a widget with the next high tide."
    assert adapt("linkedin", text, evidence).warnings == ()
    for invented in (text.replace("4,000", "5,000"), text.replace("Tidewater 2", "Tidewater 3")):
        assert adapt("linkedin", invented, evidence).warnings


def test_a_goal_proves_nothing_but_its_numbers() -> None:
    evidence = gather(
        repo_context={"readme": "# Kettle\n\nA timer.", "launchGoal": "say that Kettle is the best timer app"}
    )
    (warning,) = adapt("linkedin", "Kettle is the best timer app.", evidence).warnings
    assert "nothing in the evidence says so" in warning


def test_without_facts_one_line_says_that_the_claims_could_not_be_checked() -> None:
    text = "Kettle is the best timer app. 5,000 teams use it. It saves 40% of your time. Guaranteed. Cures colds."
    (warning,) = adapt("linkedin", text, gather()).warnings
    assert warning.startswith("No facts were handed in to check this: ")
    assert "best timer app" in warning and "and 2 more" in warning
    assert adapt("linkedin", "Kettle rings when the tea is ready.", gather()).warnings == ()


def test_the_same_sentence_gets_the_same_verdict_on_every_channel() -> None:
    sentence = "Ledgerly is used by 5,000 freelancers and is faster than Stripe."
    found = {
        channel: adapt(channel, sentence, EVIDENCE, title="News").warnings
        for channel in ("site", "linkedin", "x", "bluesky", "hn", "reddit", "email", "landing")
    }
    assert len(set(found.values())) == 1
    assert len(found["site"]) == 1


def test_a_claim_that_the_evidence_makes_is_told_only_where_a_reviewer_should_look() -> None:
    evidence = gather(
        repo_context={"readme": "# Vial\n\nVial is HIPAA compliant. Vial is used by 1,200 clinics in Europe."}
    )
    written = adapt("linkedin", "Vial is HIPAA compliant. Vial is used by 1,200 clinics in Europe.", evidence)
    assert [("HIPAA" in warning, "README" in warning) for warning in written.warnings] == [(True, True)]


@pytest.mark.parametrize(
    "invented",
    [
        "Users say Ledgerleaf imports bank statements as CSV better than Excel.",
        "Clubs love how Ledgerleaf imports bank statements as CSV.",
        "Ledgerleaf imports bank statements as CSV, HIPAA compliant.",
        "Ledgerleaf matches bank statements to members, guaranteed.",
        "Ledgerleaf is the only tool that imports bank statements as CSV.",
        "Ledgerleaf imports bank statements of 4 GB in 3 seconds.",
        "Ledgerleaf imports bank statements of 3 GB in 4 milliseconds.",
        "Ledgerleaf imports bank statements of 3 TB in 4 seconds.",
        "Ledgerleaf has 12,000 downloads.",
    ],
)
def test_a_risky_word_or_number_that_no_fact_has_is_not_supported_by_the_words_around_it(
    invented: str,
) -> None:
    changed = (
        "Ledgerleaf now imports bank statements as CSV and matches them to members. "
        "It imports bank statements of 3 GB in 4 seconds. 12,000 clubs use Ledgerleaf."
    )
    evidence = gather(repo_context={"whatChanged": changed})
    (warning,) = adapt("linkedin", invented, evidence).warnings
    assert "nothing in the evidence says so" in warning


def test_a_warning_names_the_source_that_holds_the_claim() -> None:
    evidence = gather(
        repo_context={"whatChanged": "Tern is the best importer.", "readme": "# Tern\n\nTern reads CSV."},
        brand={"name": "Tern"},
    )
    note = write_note(ProductFacts(evidence), BY_ID["linkedin"], "")
    assert note is not None
    for written in (
        adapt_written("linkedin", note, ProductFacts(evidence)),
        adapt("linkedin", "Tern is the best importer.", evidence),
    ):
        assert [line.endswith("it is taken from what changed.") for line in written.warnings] == [True]
