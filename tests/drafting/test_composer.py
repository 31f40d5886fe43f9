"""What the composer writes: texts that people would send, made of evidence and nothing else, within every limit."""

from __future__ import annotations

import re

import msgspec
import pytest
from tests.drafting.products import PRODUCTS, Product

from assent.drafting import channels
from assent.drafting.composer import compose, launch_angle, positioning
from assent.drafting.evidence import Evidence, gather
from assent.drafting.phrases import ENGLISH, GERMAN, WORDLESS, Phrases
from assent.drafting.records import Composed, NeedsDraft
from assent.drafting.statements import PAST
from assent.lifecycle.content_check import find_flaw

COMPOSED = ("linkedin", "x", "email", "site", "landing")
EACH = pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.id)


def draft(channel: str, evidence: Evidence) -> Composed:
    written = compose(channel, evidence)
    assert isinstance(written, Composed), written
    return written


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def glue() -> set[str]:
    """Every word that our own tables can put into a draft."""
    found: set[str] = set()
    for table in (ENGLISH, GERMAN, WORDLESS):
        for field in msgspec.structs.fields(Phrases):
            found |= words(re.sub(r"\{\w+\}", " ", str(getattr(table, field.name))))
        for row in table.openings:
            found |= words(re.sub(r"\{\w+\}", " ", str(row.paragraphs)))
    return found | words(" ".join(PAST.values())) | {"i", "we", "fixed"}


GLUE = glue()


def test_there_are_thirty_products() -> None:
    assert len({product.id for product in PRODUCTS}) == 30


@pytest.mark.rule("E18", "E19")
@EACH
@pytest.mark.parametrize("channel", COMPOSED)
def test_a_human_reads_a_text_and_no_brief_prompt_or_frame(product: Product, channel: str) -> None:
    written = draft(channel, product.evidence())
    for text in (written.body, written.title, written.subject, written.preheader, *written.parts):
        assert not text or find_flaw(text) is None, text
    assert written.problems == ()


@EACH
@pytest.mark.parametrize("channel", COMPOSED)
def test_every_claim_is_made_of_the_facts_it_names(product: Product, channel: str) -> None:
    evidence = product.evidence()
    written = draft(channel, evidence)
    assert written.claims
    host = words(evidence.product_url)
    for claim in written.claims:
        assert claim.supported
        said = set().union(*(words(evidence.facts[each.place].text) for each in claim.evidence))
        assert words(claim.text.replace("…", "")) <= said | GLUE | host
        for support in claim.evidence:
            assert evidence.facts[support.place].source == support.source


@EACH
@pytest.mark.parametrize("channel", COMPOSED)
def test_no_word_of_a_draft_comes_from_nowhere(product: Product, channel: str) -> None:
    evidence = product.evidence()
    written = draft(channel, evidence)
    known = GLUE | words(evidence.product_url) | set().union(*(words(fact.text) for fact in evidence.facts))
    tags = {tag.casefold()[1:] for tag in re.findall(r"#\w+", written.body)}
    numbers = {str(number) for number in range(len(written.parts) + 1)}
    text = " ".join([written.body, written.title, written.subject, written.preheader]).replace("…", "")
    assert words(text) - known - tags - numbers == set()


@EACH
def test_what_is_shown_to_the_agent_about_a_launch_is_made_of_facts_too(product: Product) -> None:
    evidence = product.evidence()
    for statement in (positioning(evidence), launch_angle(evidence)):
        assert statement.text and statement.claims
        assert all(claim.supported for claim in statement.claims)
        assert find_flaw(statement.text) is None


def test_two_products_do_not_open_alike() -> None:
    openings = {draft("linkedin", product.evidence()).opening for product in PRODUCTS}
    firsts = {draft("linkedin", product.evidence()).body.partition("\n")[0] for product in PRODUCTS}
    assert len(openings) >= 10
    assert len(firsts) >= 28


def test_the_same_evidence_gives_the_same_draft() -> None:
    for product in PRODUCTS:
        for channel in COMPOSED:
            assert compose(channel, product.evidence()) == compose(channel, product.evidence())


def test_what_a_page_tells_a_model_to_do_is_in_no_draft() -> None:
    hostile = next(product for product in PRODUCTS if product.id == "hostile")
    evidence = hostile.evidence()
    everything = " ".join(fact.text for fact in evidence.facts).casefold()
    for sign in ("ignore all", "linkedin post", "helpful assistant", "insert feature", "approve every"):
        assert sign not in everything
    assert "one map for every courier" in everything


@pytest.mark.parametrize(
    ("language", "ids"), [("de", ("brotzeit", "lotse")), ("ja", ("hanko",)), ("ar", ("daftar",))]
)
def test_a_draft_is_in_the_language_of_its_evidence(language: str, ids: tuple[str, ...]) -> None:
    english = {"what", "the", "is", "new", "it", "here", "have", "we", "also", "more", "meet", "that"}
    for product in PRODUCTS:
        if product.id in ids:
            for channel in COMPOSED:
                written = draft(channel, product.evidence())
                assert written.language == language
                assert not words(written.body) & english


def test_an_e_mail_has_subject_preheader_text_and_escaped_html() -> None:
    evidence = gather(
        product_url="https://a.example/?x=1&y=2",
        repo_context={
            "whatChanged": "Added <b>tables</b> & charts",
            "readme": "# Plotter\n\nPlotter draws plots for people.",
        },
    )
    written = draft("email", evidence)
    assert written.subject == "New in Plotter: tables & charts"
    assert written.preheader == "Plotter draws plots for people."
    assert "tables &amp; charts" in written.html
    assert 'href="https://a.example/?x=1&amp;y=2"' in written.html
    assert "<script" not in written.html
    assert written.title == ""


def test_an_arabic_e_mail_reads_from_the_right() -> None:
    daftar = next(product for product in PRODUCTS if product.id == "daftar")
    assert '<html lang="ar" dir="rtl">' in draft("email", daftar.evidence()).html


def test_risky_claims_are_warned_about_with_where_they_come_from() -> None:
    lumen = next(product for product in PRODUCTS if product.id == "lumen")
    written = draft("site", lumen.evidence())
    risks = {risk for claim in written.claims for risk in claim.risk}
    assert {"superlative", "guarantee", "number"} <= risks
    assert len([warning for warning in written.warnings if warning.startswith("Check this claim")]) >= 2


@pytest.mark.parametrize("channel", [row.id for row in channels.TABLE if not row.composed])
def test_for_other_channels_a_draft_is_asked_for(channel: str) -> None:
    asked = compose(channel, PRODUCTS[0].evidence())
    assert isinstance(asked, NeedsDraft)
    assert channels.BY_ID[channel].label in asked.wanted


def test_without_a_usable_sentence_a_draft_is_asked_for() -> None:
    for evidence in (gather(), gather(brand={"name": "Nothing"}), gather(repo_context={"routes": ["/a"]})):
        assert isinstance(compose("linkedin", evidence), NeedsDraft)
        assert positioning(evidence).text == ""


VOICES = [
    ("no emojis", "🎉", False),
    ("no exclamation marks", "!", False),
    ("keine Ausrufezeichen, keine Emojis", "!", False),
    ("anything goes", "!", True),
]


@pytest.mark.parametrize(("voice", "sign", "kept"), VOICES)
def test_the_voice_decides_about_signs(voice: str, sign: str, kept: bool) -> None:
    context = {
        "whatChanged": "Search is here 🎉 and it is quick!",
        "readme": "# Finder\n\nFinder finds the things you lost!",
    }
    written = draft("linkedin", gather(repo_context=context, brand={"voice": voice}))
    assert (sign in written.body) is kept


def test_banned_words_are_not_said() -> None:
    readme = "# Flow\n\nFlow gives teams synergy. Flow shows who waits for whom.\n\n- Leverage your data\n- One queue\n"
    brand = {"voice": 'Never say "synergy" or "leverage".'}
    written = draft("linkedin", gather(repo_context={"readme": readme}, brand=brand))
    assert not {"synergy", "leverage"} & words(written.body)
    assert "Flow shows who waits for whom." in written.body


def test_british_spelling_is_used_where_the_brand_wants_it() -> None:
    context = {"readme": "# Hue\n\nHue organizes the colors of your brand in one center."}
    american = draft("site", gather(repo_context=context))
    british = draft("site", gather(repo_context=context, brand={"voice": "British English"}))
    assert "organizes the colors of your brand in one center" in american.body
    assert "organises the colours of your brand in one centre" in british.body


def test_samples_of_the_voice_show_who_speaks() -> None:
    nestbox = next(product for product in PRODUCTS if product.id == "nestbox")
    written = draft("linkedin", nestbox.evidence())
    assert "🐦" in written.body
    assert {use.entry_id for use in written.memory_used} == {"voice-1", "proof-1"}
