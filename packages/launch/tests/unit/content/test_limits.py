"""Drafts stay within the limits whatever the evidence is: generated products, also German, Japanese and Arabic."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.effort import rounds

from assent.gate.content.check import find_flaw
from assent_launch.channels.channel import check
from assent_launch.channels.registry import BY_ID
from assent_launch.content import counting
from assent_launch.content.adapter import adapt, adapt_written
from assent_launch.content.evidence import gather
from assent_launch.content.note import write_note
from assent_launch.content.page import Page
from assent_launch.content.records import ProductFacts

WORDS = {
    "en": "the a team of people who make invoices faster with one clear list and reminders for every late client",
    "de": "die Bäckerei sieht am Abend welche Bestellungen für den nächsten Morgen mit Abholzeiten da sind",
    "ja": "契約書 を 送って 署名 してもらう まで ひとつの 画面 で 終わらせる サービス です 。",
    "ar": "دفتر يسجل المبيعات والمصروفات ويعرض لك صورة واضحة عن متجرك كل يوم في مكان واحد",
}
ODD = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400)


@st.composite
def lines(draw: st.DrawFn, language: str, most: int = 60) -> str:
    picked = draw(st.lists(st.sampled_from(WORDS[language].split()), min_size=3, max_size=most))
    text = ("" if language == "ja" else " ").join(picked)
    return text + draw(
        st.sampled_from(["", ".", "!", "。", "…", " 🚀", " 👩🏽‍💻", " https://example.com/a/b?c=d"])
    )


@st.composite
def products(draw: st.DrawFn, language: str) -> dict[str, Any]:
    line = lines(language) | lines(language, 200) | ODD
    some = st.lists(line, max_size=6)
    page = Page(
        title=draw(line),
        description=draw(line),
        headings=tuple(draw(some)),
        paragraphs=tuple(draw(some)),
    )
    repo = {
        "whatChanged": "\n".join(draw(some)),
        "recentCommits": draw(some),
        "targetCustomer": draw(line),
        "readme": "# "
        + draw(line)
        + "\n\n"
        + "\n\n".join(draw(some))
        + "\n\n"
        + "\n".join("- " + one for one in draw(some)),
    }
    brand = {
        "name": draw(st.sampled_from(["", "Ledgerly", "دفتر", "ハンコ便", "x" * 90])),
        "voice": draw(line),
        "pillars": draw(some),
    }
    url = draw(st.sampled_from(["", "https://example.com", "https://example.com/" + "p" * 300]))
    return {"product_url": url, "page": page, "repo_context": repo, "brand": brand}


@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.parametrize("language", sorted(WORDS))
@settings(max_examples=rounds(12, 50), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_draft_is_within_its_channels_limits(language: str, data: st.DataObject) -> None:
    product = data.draw(products(language))
    facts = ProductFacts(gather(**product))
    for channel, row in BY_ID.items():
        note = write_note(facts, row, "")
        if note is None:
            continue
        written = adapt_written(channel, note, facts)
        title = written.subject or written.title
        assert check(row, written.body, title=title, parts=written.parts).problems == ()
        for part in written.parts or (written.body,):
            assert row.body.count(part) <= row.body.most
        assert len(written.subject) <= 78
        assert len(written.preheader) <= 90
        assert find_flaw(written.body) is None
        assert len(written.title) <= 135
        assert all(claim.supported for claim in written.claims)


@settings(max_examples=100, deadline=None)
@given(ODD | lines("en", 400) | lines("ja", 400) | lines("ar", 400) | lines("de", 400))
def test_a_thread_has_every_word_and_fits(text: str) -> None:
    written = adapt("x", text, gather())
    for part in written.parts:
        assert counting.x_weight(part) <= 280
    if written.parts:
        total = len(written.parts)
        bare = "".join(part.removesuffix(f"\n\n{n}/{total}") for n, part in enumerate(written.parts, 1))
        assert "".join(bare.split()) == "".join(text.split())
