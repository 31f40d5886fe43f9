"""The plain note of this server, for twelve launches of real projects: what a maker would publish as it is, on every
channel."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import pytest
from tests.support.content.launch_data import LAUNCHES, Launch

from assent.gate.content.check import find_flaw
from assent_launch.channels.channel import check
from assent_launch.channels.registry import BY_ID
from assent_launch.content.adapter import adapt_written
from assent_launch.content.evidence import Evidence, gather
from assent_launch.content.note import position, write_note
from assent_launch.content.page import read_page
from assent_launch.content.records import CheckedText, ProductFacts

EACH = pytest.mark.parametrize("place", range(len(LAUNCHES)), ids=[launch.name for launch in LAUNCHES])
CHANNELS: Final = tuple(BY_ID)
WITHOUT_LINK: Final = ("instagram", "tiktok")

FRAME: Final = ("hi,", "hallo,")
"""The lines that state nothing."""
LEADS: Final = (
    r"(?:fixed|behoben): ",
    r"(?:show hn: )?{name}(?: [\d.]+)?(?:: |：| – )",
    r"show hn: ",
    r"(?:for|who it is for:|für|für wen:) ",
)
"""What may stand before a statement of the evidence."""

NOT_FOR_READERS: Final = re.compile(
    r"licen[cs]e|(?:pip3?|npm|brew|choco|get) install|#\d+|@\w+|:\w+:|curious|feedback|^an? update"
)


def note(channel: str, evidence: Evidence, goal: str = "") -> CheckedText:
    facts = ProductFacts(evidence)
    written = write_note(facts, BY_ID[channel], goal)
    assert written is not None, channel
    return adapt_written(channel, written, facts)


@cache
def draft(place: int, channel: str) -> CheckedText:
    return note(channel, LAUNCHES[place].evidence())


def texts(place: int) -> list[tuple[str, str, CheckedText]]:
    """Each channel's draft with everything that a reader sees of it."""
    found = []
    for channel in CHANNELS:
        made = draft(place, channel)
        # A preheader may end where a mail program would cut it, and a tagline where Product Hunt would.
        above = [made.title, made.subject, made.preheader]
        found.append((channel, "\n".join([*(each.rstrip("…") for each in above), made.body]), made))
    return found


def plain(text: str) -> str:
    """Without markup, breaks and capitals."""
    bare = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    bare = re.sub(r"</?[a-zA-Z][^>]*>|[`*_]", "", bare)
    return " ".join(bare.split()).casefold()


def handed_in(launch: Launch) -> str:
    """All that a draft may quote: not the commits, which readers of a launch do not know."""
    given = [launch.repo.get(name, "") for name in ("whatChanged", "readme", "targetCustomer")]
    told = ["\n".join(each) if isinstance(each, list) else each for each in given]
    return plain("\n".join([*told, launch.brand.get("audience", ""), launch.url]))


def is_stated(piece: str, launch: Launch, handed: str) -> bool:
    """Whether a piece of a draft is in what was handed in, alone or behind a frame."""
    name = re.escape(launch.name.casefold())
    if piece.rstrip(".。!") in handed or piece in [
        each.replace("{name}", launch.name.casefold()) for each in FRAME
    ]:
        return True
    rests = [
        piece[match.end() :] for lead in LEADS if (match := re.match(lead.replace("{name}", name), piece))
    ]
    return any(rest and is_stated(rest, launch, handed) for rest in rests)


def pieces(text: str) -> list[str]:
    """The lines of a draft without their marks."""
    lines = [re.sub(r"^\s*(?:[-•*]|#{1,3})\s+|^\d+/\d+$", "", line) for line in text.splitlines()]
    return [plain(line) for line in lines if line.strip()]


def test_the_twelve_launches_name_no_address_outside_the_example_domains() -> None:
    assert len({launch.name for launch in LAUNCHES}) == 12
    for launch in LAUNCHES:
        hosts = re.findall(r"https?://([^/\s)\"'>\]]+)", str(launch).replace("\\n", "\n"))
        assert [host for host in hosts if not re.search(r"(?:^|\.)example\.org\.?$|^localhost", host)] == []


@pytest.mark.rule("E18", "E19")
@EACH
def test_a_human_reads_a_text_and_no_brief_prompt_or_frame(place: int) -> None:
    for channel, _, made in texts(place):
        for text in (made.body, made.title, made.subject, made.preheader):
            assert not text or find_flaw(text) is None, f"{channel}: {text}"


@EACH
def test_every_claim_names_the_fact_that_it_is_taken_from(place: int) -> None:
    for channel, _, made in texts(place):
        assert made.claims and all(claim.supported for claim in made.claims), f"{channel}: {made.claims}"


@EACH
def test_every_sentence_is_from_the_evidence_or_the_frame(place: int) -> None:
    launch = LAUNCHES[place]
    handed = handed_in(launch)
    for channel, text, _ in texts(place):
        for line in pieces(text):
            parts = (
                [line] if is_stated(line, launch, handed) else re.split(r"(?<=[.!?])\s+|(?<=。)(?=.)", line)
            )
            assert [part for part in parts if not is_stated(part, launch, handed)] == [], f"{channel}: {line}"


@EACH
def test_the_change_is_stated_or_what_the_product_is_where_nothing_changed(place: int) -> None:
    launch = LAUNCHES[place]
    for channel, text, _ in texts(place):
        missing = [words for words in launch.states if words.casefold() not in text.casefold()]
        assert missing == [], f"{channel}: {text}"


@EACH
def test_at_most_three_facts_stand_beside_the_change_and_the_product(place: int) -> None:
    for channel, _, made in texts(place):
        listed = re.findall(r"(?m)^\s*[-•*]\s+\S", made.body)
        assert len(listed) <= 3, f"{channel}: {made.body}"
        assert len(made.claims) <= 6, f"{channel}: {made.body}"


@EACH
def test_the_link_is_given_once_and_no_other_address(place: int) -> None:
    for channel, text, made in texts(place):
        assert made.body.count(LAUNCHES[place].url) == (channel not in WITHOUT_LINK), (
            f"{channel}: {made.body}"
        )
        assert set(re.findall(r"https?://\S+", text)) <= {LAUNCHES[place].url}, channel


@EACH
def test_no_badge_commit_licence_or_install_step_is_told(place: int) -> None:
    launch = LAUNCHES[place]
    commits = [plain(commit) for commit in launch.repo["recentCommits"] if len(commit.split()) > 2]
    for channel, text, _ in texts(place):
        said = plain(text)
        assert [words for words in launch.absent if words in text] == [], f"{channel}: {text}"
        assert [commit for commit in commits if commit in said] == [], f"{channel}: {text}"
        assert NOT_FOR_READERS.findall(said) == [], f"{channel}: {text}"


@EACH
def test_a_title_says_something_whole(place: int) -> None:
    name = LAUNCHES[place].name.casefold()
    for channel, _, made in texts(place):
        title = made.title or made.subject
        if BY_ID[channel].title_required:
            said = re.sub(
                rf"\b(?:new in|neu in|{re.escape(name)})\b|v?\d+(?:\.\d+)+|\W", "", title.casefold()
            )
            assert said, f"{channel}: {title}"


@EACH
def test_a_draft_fits_its_channel(place: int) -> None:
    for channel, _, made in texts(place):
        title = made.title or made.subject
        checked = check(BY_ID[channel], made.body, title=title, preheader=made.preheader, parts=made.parts)
        assert (checked.problems, made.problems) == ((), ()), channel


@EACH
def test_each_kind_of_channel_has_its_own_text(place: int) -> None:
    short, post, page, mail = (
        draft(place, channel).body for channel in ("x", "linkedin", "landing", "email")
    )
    assert page.startswith("# ") and page != post
    assert len(short) <= len(post) <= len(mail)


@EACH
def test_a_launch_is_positioned_by_what_the_evidence_says(place: int) -> None:
    launch = LAUNCHES[place]
    for text in position(ProductFacts(launch.evidence()), ""):
        for sentence in re.split(r"(?<=[.!?])\s+", plain(text)):
            assert is_stated(sentence, launch, handed_in(launch)), sentence


README = (
    "# Plotter\n\nPlotter draws plots for people.\n\n- Reads folders\n- Writes Parquet\n- Prints posters\n"
)


def test_what_the_goal_names_comes_first() -> None:
    context = {"whatChanged": "- Dark mode\n- Import of spreadsheets", "readme": README}
    assert note("x", gather(repo_context=context)).body == "Plotter: Dark mode."
    wanted = note("x", gather(repo_context=context), "first users for the spreadsheet import")
    assert wanted.body == "Plotter: Import of spreadsheets."
    features = note(
        "linkedin", gather(repo_context={"readme": README}), "reach people who print posters"
    ).body
    assert features.index("Prints posters") < features.index("Reads folders")


def test_a_sentence_of_a_paragraph_leads_where_the_goal_names_it_and_takes_along_what_goes_on() -> None:
    changed = "Files can be encrypted. Tables can be merged. It takes one command. Charts can be shared."
    evidence = gather(repo_context={"whatChanged": changed, "readme": README})
    assert note("x", evidence).body == "Plotter: Files can be encrypted."
    body = note("linkedin", evidence, "announce merging of tables").body
    assert body.split("\n\n")[:2] == [
        "Plotter: Tables can be merged. It takes one command.",
        "- Files can be encrypted\n- Charts can be shared",
    ]


def test_the_goal_of_the_context_counts_where_the_call_has_none() -> None:
    context = {"whatChanged": "- Dark mode\n- Import of files", "launchGoal": "users of the import"}
    assert note("x", gather(repo_context=context)).body == "Import of files."


def test_a_landing_page_introduces_the_product_and_a_post_the_change() -> None:
    evidence = gather(repo_context={"whatChanged": "Added tables", "readme": README})
    page, post = note("landing", evidence).body, note("linkedin", evidence).body
    assert page.index("draws plots") < page.index("Reads folders") < page.index("Added tables")
    assert post.index("Added tables") < post.index("draws plots")
    assert "Reads folders" not in post


def test_a_change_log_becomes_a_lead_with_the_version_and_a_list_with_fixes_last() -> None:
    changed = (
        "## [0.9.0] - 2026-10-02\n\n### Fixed\n- Crash on broken symlinks (#220)\n\n### Added\n"
        "- Compare two scans (#212) @halvor\n- Export as JSON ([#198](https://github.com/h/d/pull/198))\n\n"
        "### Internal\n- bump clap\n"
    )
    body = note("linkedin", gather(repo_context={"whatChanged": changed, "readme": README})).body
    assert body.split("\n\n")[:2] == [
        "Plotter 0.9.0: Compare two scans.",
        "- Export as JSON\n- Fixed: Crash on broken symlinks",
    ]


PAGE = """<title>Cronlens – Cron monitoring for small teams</title>
<meta name="description" content="Cronlens watches cron jobs on all your servers and tells you which did not run.">
<h1>Know when cron didn't run</h1><p>“We found three dead backups on day one.” — Ina Holt, Northwind</p>
<h2>What our customers say</h2><h2>Simple pricing</h2><h3>$0 per month</h3><h3>Sign up for free</h3>
<h2>Features</h2><h3>One line to set up</h3><h3>Alerts by mail, Slack and SMS</h3><h3>A calendar of every run</h3>
<p>Free for 20 jobs, then $9 a month.</p><p>We use cookies to improve your experience.</p>"""


@pytest.mark.parametrize("channel", CHANNELS)
def test_of_a_page_no_price_testimonial_or_menu_is_said(channel: str) -> None:
    made = note(channel, gather(product_url="https://cronlens.example", page=read_page(PAGE)))
    text = " ".join((made.body, made.title, made.subject, made.preheader))
    assert not re.search(r"\$|backups|cookies|customers|sign up", text, re.IGNORECASE)
    assert "Cronlens watches cron jobs on all your servers and tells you which did not run" in text


def test_a_readme_says_what_the_product_is_after_its_notices() -> None:
    readme = "# Tern\n\nThis repository is a fork. Please star us on the site. Tern turns CSV files into one table."
    assert note("x", gather(repo_context={"readme": readme})).body == "Tern turns CSV files into one table."
    alone = readme.replace(" Tern turns CSV files into one table.", "")
    assert write_note(ProductFacts(gather(repo_context={"readme": alone})), BY_ID["x"], "") is None


def test_commits_are_no_news_for_readers() -> None:
    commits = ["feat: persistent pool of workers", "fix: crash"]
    body = note("email", gather(repo_context={"readme": README, "recentCommits": commits})).body
    assert "pool" not in body and "crash" not in body
    assert write_note(ProductFacts(gather(repo_context={"recentCommits": commits})), BY_ID["x"], "") is None


def test_a_change_in_another_language_than_the_readme_decides_the_language() -> None:
    changed = "Die Tabellen lassen sich jetzt auch als PDF ausgeben."
    readme = "# Plotter\n\nPlotter draws the plots that you and your team have in mind."
    made = note("email", gather(repo_context={"readme": readme, "whatChanged": changed}))
    assert made.language == "de"
    assert made.body == f"Hallo,\n\nPlotter: {changed}"


def test_a_japanese_note_has_only_japanese_words() -> None:
    context = {
        "readme": "# くもノート\n\n話すだけでその場でメモになる小さなアプリです。",
        "whatChanged": "音声メモを検索できます。",
    }
    body = note("facebook", gather(repo_context=context)).body
    assert (
        body
        == "くもノート：音声メモを検索できます。\n\nくもノート：話すだけでその場でメモになる小さなアプリです。"
    )


def test_a_sentence_without_a_superlative_says_what_it_is() -> None:
    readme = "# Quillwork\n\nThe fastest form builder. Quillwork turns a schema into a form."
    assert note("x", gather(repo_context={"readme": readme})).body == "Quillwork turns a schema into a form."


def test_on_reddit_the_author_is_advised_to_say_that_it_is_theirs() -> None:
    made = note("reddit", gather(repo_context={"readme": README}))
    assert any("yours" in each for each in made.recommendations)


def test_the_same_facts_give_the_same_note() -> None:
    evidence = gather(repo_context={"readme": README})
    assert note("site", evidence) == note("site", evidence)
