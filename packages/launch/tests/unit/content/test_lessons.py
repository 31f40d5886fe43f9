"""What people asked for shapes later drafts: it shortens, leaves out or warns, and never changes a statement."""

from __future__ import annotations

import pytest

from assent_launch.channels.registry import BY_ID
from assent_launch.content.adapter import adapt_written
from assent_launch.content.evidence import Evidence, MemoryEntry, gather
from assent_launch.content.lessons import (
    Asked,
    Lessons,
    MeasuredResult,
    RefusedClaim,
    Rejection,
    describe_checks,
    is_about_writing,
    lessons_in_words,
    rules_from,
)
from assent_launch.content.note import write_note
from assent_launch.content.records import CheckedText, ProductFacts

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


def draft(channel: str, evidence: Evidence, lessons: Lessons = Lessons()) -> CheckedText:  # noqa: B008 - frozen
    facts = ProductFacts(evidence, lessons)
    written = write_note(facts, BY_ID[channel], "")
    assert written is not None
    return adapt_written(channel, written, facts)


def rejected(reason: str) -> Lessons:
    return Lessons(rejections=(Rejection(entry_id="r1", reason=reason),))


def kinds_of(lessons: Lessons) -> list[tuple[str, str]]:
    return [(rule.kind, rule.value) for rule in rules_from(lessons, "linkedin")]


@pytest.mark.parametrize(
    ("reason", "rules"),
    [
        ("No emojis please", [("no_emoji", "")]),
        ("lose the hashtags", [("no_hashtags", "")]),
        ("We never use exclamation marks", [("no_exclamation", "")]),
        ("zu werblich", [("plain", "")]),
        ("Way too long.", [("shorter", "")]),
        ('never say "Meet"', [("phrase", "Meet")]),
        ('Never say "revolutionary" in posts.', [("phrase", "revolutionary")]),
        ('Never say "revolutionary" in any of our posts', [("phrase", "revolutionary")]),
        ("Don't say game changer again", [("phrase", "game changer")]),
        ("Never call it a platform.", [("phrase", "a platform")]),
        ("Always name the price in euros.", [("words", "Always name the price in euros.")]),
        ('Say "bills", please.', [("words", 'Say "bills", please.')]),
        ('Not bad, but say "bills" here.', [("words", 'Not bad, but say "bills" here.')]),
        ("don't call us a startup.", [("phrase", "a startup")]),
        ("We don't say 'users', we say 'people'", [("phrase", "users")]),
        (
            "Hashtags are fine, please make it friendlier",
            [("words", "Hashtags are fine, please make it friendlier")],
        ),
        ("Please use more emoji", [("words", "Please use more emoji")]),
        ("It's too long", [("shorter", "")]),
        ("Shorter and without emoji!", [("shorter", ""), ("no_emoji", "")]),
        ("Don't say 'best' or 'fastest'", [("phrase", "best"), ("phrase", "fastest")]),
        ("Sag nie „Open Source“", [("phrase", "Open Source")]),
    ],
)
def test_a_reason_about_the_text_becomes_the_rule_it_names_or_stays_words(
    reason: str, rules: list[tuple[str, str]]
) -> None:
    assert is_about_writing(reason)
    assert kinds_of(rejected(reason)) == rules
    assert kinds_of(Lessons(asked=(Asked(entry_id="a1", text=reason),))) == rules


@pytest.mark.parametrize(
    ("rule", "checked"),
    [
        (
            'Never say "thrilled", "excited" or "delighted" on LinkedIn. In mails it is fine.',
            {"linkedin": {"thrilled", "excited", "delighted"}},
        ),
        ('On LinkedIn never say "excited".', {"linkedin": {"excited"}}),
        ('On LinkedIn, never say "excited", please.', {"linkedin": {"excited"}}),
        ('Never say "bills" in mails or on X.', {"email": {"bills"}, "x": {"bills"}}),
        ('On X never say "bills", in e-mails never say "fees".', {"x": {"bills"}, "email": {"fees"}}),
        (
            "Never say synergy, leverage or disrupt in LinkedIn posts.",
            {"linkedin": {"synergy", "leverage", "disrupt"}},
        ),
        ('Never say "bills", it sounds silly on X.', {each: {"bills"} for each in BY_ID}),
        ('Never say "bills". In mails it is fine.', {each: {"bills"} for each in BY_ID if each != "email"}),
        ('Never say "bills" except in mails.', {each: {"bills"} for each in BY_ID if each != "email"}),
        (
            'Never write "11 seconds" for 3.2; it is 19 seconds cold.',
            {each: {"11 seconds"} for each in BY_ID},
        ),
        ("Never write 11 seconds.", {each: {"11 seconds"} for each in BY_ID}),
        ('Never say "bills" in the newsletter to clubs.', {}),
    ],
)
def test_a_rule_is_checked_for_all_that_it_quotes_and_where_it_says(
    rule: str, checked: dict[str, set[str]]
) -> None:
    lessons = Lessons(standing=(Asked(entry_id="s1", text=rule),))
    found = {each: {rule.value for rule in rules_from(lessons, each)} for each in BY_ID}
    told = describe_checks(rule)

    assert {each: words for each, words in found.items() if words} == checked
    assert all(f"“{word}”" in told for words in checked.values() for word in words)
    if len(checked) < len(BY_ID) / 2:
        assert all(BY_ID[each].label in told for each in checked)
    assert "E-mail" not in told.partition("except")[0] or "email" in checked


def test_a_request_that_no_rule_can_apply_is_shown_on_the_channel_that_it_is_about() -> None:
    asked = (
        Asked(entry_id="a1", text="They will eat me alive: name the numbers.", channel="hn"),
        Asked(entry_id="a2", text="On LinkedIn name the price."),
        Asked(entry_id="a3", text="Always name the product."),
    )
    rejections = (Rejection(entry_id="r1", reason="The tone is too formal.", channel="x"),)
    lessons = Lessons(asked=asked, rejections=rejections)
    shown = {
        each: {rule.entry_id for rule in rules_from(lessons, each)}
        for each in ("hn", "linkedin", "x", "site")
    }
    assert shown == {"hn": {"a1", "a3"}, "linkedin": {"a2", "a3"}, "x": {"r1", "a3"}, "site": {"a3"}}


@pytest.mark.parametrize(
    "wish",
    [
        "Don't forget to mention 'Android'",
        'I do not see why "Android" is missing',
        'Why is there no "open source" in it?',
        'Never forget to say "open source"',
        'Do not drop "gusts" from it',
        'Good, but it does not say "wind map"',
        'No "open source"!',
        "Don't say 'Android' without 'phones'",
        "Too short. Make it longer, not shorter.",
        "Not too long, please.",
        "A few emojis would be nice",
        "Please keep the emoji",
        "Emoji fehlen",
        "Without emoji it looks dull",
        "not salesy enough",
        "Please bring the hashtag back",
        "don't write to Anna Meier",
        "never write before 9 in the morning",
        "don't say that Android is dead",
        "No question, it is good",
    ],
)
def test_words_that_do_not_clearly_forbid_stay_words(wish: str) -> None:
    assert kinds_of(Lessons(asked=(Asked(entry_id="a1", text=wish),))) == [("words", wish)]
    assert {kind for kind, _ in kinds_of(rejected(wish))} <= {"words"}


def test_a_lesson_that_no_person_confirmed_is_a_reminder_and_leaves_nothing_out() -> None:
    asked = Asked(entry_id="a1", text="Never say “invoices”.", confirmed=False)
    assert kinds_of(Lessons(asked=(asked,))) == [("words", "Never say “invoices”.")]
    assert draft("linkedin", EVIDENCE, Lessons(asked=(asked,))).body == draft("linkedin", EVIDENCE).body


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "no",
        "Peter should read it first",
        "please ask Clara first",
        "Please hold until Friday",
        "legal says no",
        "mehr Zeit nötig",
        "Ich will das nicht mehr",
        "My name is misspelled",
        "too expensive for Peter",
        "I love the emoji, wrong account",
        "wait, don't send it!",
        "Not now.",
        "later",
        "wrong person",
        "That is the wrong address, please use the other one.",
        "duplicate",
        "I don't like it",
        "Send it to Anna instead",
        "We already posted this.",
        "I changed my mind",
        "Please send it tomorrow instead.",
        "The price is wrong.",
        "It says Peter, which is a mistake.",
        "Send it to marketing first.",
        "Warte noch, bitte.",
        "Nicht jetzt",
        "Falscher Empfänger",
    ],
)
def test_a_reason_that_is_not_clearly_about_the_text_teaches_nothing(reason: str) -> None:
    assert not is_about_writing(reason)
    assert rules_from(rejected(reason), "email") == ()


def test_small_words_alone_are_never_a_wording_to_avoid() -> None:
    assert ("phrase", "it") not in kinds_of(rejected("Please do not say it in public."))


def test_requests_in_words_are_given_newest_first_and_at_most_three() -> None:
    asked = tuple(Asked(entry_id=f"a{n}", text=f"Always name price {n}.") for n in range(5))
    assert lessons_in_words(Lessons(asked=asked), "x") == tuple(f"Always name price {n}." for n in (4, 3, 2))


@pytest.mark.rule("E33")
def test_a_writer_is_told_the_newest_result_of_the_channel() -> None:
    results = tuple(
        MeasuredResult(entry_id=f"p{n}", channel=channel, text=f"{channel}: {n} clicks.")
        for n, channel in enumerate(("x", "linkedin", "linkedin", "site"))
    )
    assert lessons_in_words(Lessons(results=results), "linkedin") == ("Measured before: linkedin: 2 clicks.",)
    assert lessons_in_words(Lessons(results=results), "email") == ()
    assert rules_from(Lessons(results=results), "linkedin") == ()


@pytest.mark.parametrize(
    ("reason", "gone"),
    [
        ("No emojis please", "🎉"),
        ("lose the hashtags", "#"),
        ('Do not say "reminds late clients politely" again', "reminds late clients politely"),
    ],
)
def test_what_a_reason_names_is_gone_from_the_next_draft(reason: str, gone: str) -> None:
    second = draft("linkedin", EVIDENCE, rejected(reason))
    assert gone not in second.body


@pytest.mark.parametrize("channel", ["linkedin", "email", "x", "site", "landing"])
def test_memory_is_named_for_a_shorter_draft_just_where_it_is_shorter(channel: str) -> None:
    before, after = draft(channel, EVIDENCE), draft(channel, EVIDENCE, rejected("Way too long."))
    shorter = len(after.body) < len(before.body)
    assert shorter or after.body == before.body
    assert [use.entry_id for use in after.memory_used] == (["r1"] if shorter else [])


def test_a_refused_claim_is_not_made_again() -> None:
    claim = "It saves freelancers four hours a week."
    written = draft("linkedin", EVIDENCE, Lessons(refused_claims=(RefusedClaim(entry_id="c1", text=claim),)))
    assert "four hours" not in written.body
    assert "c1" in {use.entry_id for use in written.memory_used}


def test_a_refused_claim_leaves_out_only_a_statement_that_makes_it() -> None:
    near = RefusedClaim(entry_id="c1", text="It saves freelancers forty hours a week.")
    assert (
        draft("linkedin", EVIDENCE, Lessons(refused_claims=(near,))).body == draft("linkedin", EVIDENCE).body
    )


def test_a_wording_that_cannot_be_avoided_is_not_said_to_be_avoided() -> None:
    written = draft("linkedin", EVIDENCE, rejected("Never say “Ledgerly”."))
    assert "Ledgerly" in written.body
    assert [line for line in written.warnings if "“Ledgerly”" in line]
    assert not any("Avoids" in line for line in written.recommendations)


def test_a_remembered_fact_is_quoted_and_named_and_a_proof_where_it_belongs_to_the_change() -> None:
    evidence = gather(
        repo_context={"whatChanged": "Added quiet hours for alerts"},
        brand={"name": "Cronicle"},
        entries=[
            MemoryEntry(entry_id="f1", kind="repo_fact", text="Cronicle runs on your own machines."),
            MemoryEntry(
                entry_id="p1", kind="proof", text="Quiet hours are on at 40 of 52 teams that get alerts."
            ),
            MemoryEntry(entry_id="p2", kind="proof", text="“It found a job that had not run since May.” Jo"),
            MemoryEntry(entry_id="x1", kind="channel_performance", text="x: 12 clicks"),
        ],
    )
    written = draft("linkedin", evidence)
    assert "Cronicle runs on your own machines." in written.body
    assert "Quiet hours are on at 40 of 52 teams that get alerts." in written.body
    assert "since May" not in written.body
    assert {use.entry_id for use in written.memory_used} == {"f1", "p1"}


def test_rules_are_bounded_whatever_is_remembered() -> None:
    hostile = Rejection(entry_id="r", reason='"' * 5_000 + " never say " * 2_000)
    asked = Asked(entry_id="a", text="never say 'x " * 20_000)
    assert len(rules_from(Lessons(rejections=(hostile,) * 200, asked=(asked,) * 60), "x")) <= 120
