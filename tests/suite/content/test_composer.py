"""What the composer writes: the change, what the product is, at most three facts, the link; words of the evidence."""

from __future__ import annotations

import re

import msgspec
import pytest
from tests.suite.content.products import PRODUCTS, Product
from tests.suite.content.readmes import DATABASE, DISK, FORMS, GERMAN, JAPANESE, SPREADSHEET

from assent.gate.content.check import find_flaw
from assent.suite.channels.registry import BY_ID
from assent.suite.composer import frames
from assent.suite.composer.composer import compose, launch_angle, positioning
from assent.suite.composer.statements import shorten
from assent.suite.content.evidence import Evidence, gather
from assent.suite.content.language import sentences, strip_full_stop
from assent.suite.content.page import read_page
from assent.suite.content.records import Composed, NeedsDraft

EACH = pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.id)
CHANNELS = tuple(BY_ID)


def draft(channel: str, evidence: Evidence) -> Composed:
    written = compose(channel, evidence)
    assert isinstance(written, Composed), written
    return written


def body(channel: str, url: str = "https://a.example", **context: object) -> str:
    return draft(channel, gather(product_url=url, repo_context=context)).body


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def frame_words() -> set[str]:
    """Every word that the table of frames can put into a draft."""
    tables = (frames.ENGLISH, frames.GERMAN)
    text = " ".join(
        str(getattr(table, field.name)) for table in tables for field in msgspec.structs.fields(table)
    )
    return words(re.sub(r"\{\w+\}", " ", text)) | set(frames._NOW.values()) | {"show", "hn", "now"}


FRAME_WORDS = frame_words()


@pytest.mark.rule("E18", "E19")
@EACH
def test_a_human_reads_a_text_and_no_brief_prompt_or_frame(product: Product) -> None:
    for channel in CHANNELS:
        written = draft(channel, product.evidence())
        for text in (written.body, written.title, written.subject, written.preheader, *written.parts):
            assert not text or find_flaw(text) is None, text
        assert written.problems == ()


@EACH
def test_every_claim_is_made_of_the_facts_it_names(product: Product) -> None:
    evidence = product.evidence()
    host = words(evidence.product_url)
    for channel in CHANNELS:
        written = draft(channel, evidence)
        assert written.claims
        for claim in written.claims:
            said = set().union(*(words(evidence.facts[each.place].text) for each in claim.evidence))
            assert claim.supported
            assert words(claim.text.replace("…", "")) <= said | FRAME_WORDS | host
            for support in claim.evidence:
                assert evidence.facts[support.place].source == support.source


@EACH
def test_no_word_of_a_draft_comes_from_nowhere(product: Product) -> None:
    evidence = product.evidence()
    known = FRAME_WORDS | words(evidence.product_url)
    known |= set().union(*(words(fact.text) for fact in evidence.facts))
    for channel in CHANNELS:
        written = draft(channel, evidence)
        text = " ".join([written.body, written.title, written.subject, written.preheader]).replace("…", "")
        numbers = {str(number) for number in range(len(written.parts) + 1)}
        assert words(text) - known - numbers == set()


@EACH
def test_a_draft_has_at_most_three_facts_beside_change_and_product(product: Product) -> None:
    for channel in CHANNELS:
        written = draft(channel, product.evidence())
        listed = re.findall(r"^[•-] ", written.body, re.MULTILINE)
        assert len(listed) <= 3
        assert len(written.body.split("\n\n")) <= 7


@EACH
def test_nothing_asks_the_reader_for_anything(product: Product) -> None:
    for channel in CHANNELS:
        written = draft(channel, product.evidence())
        assert not re.search(r"[?#]\s*$|#\w", written.body.replace("\n# ", "\n"))
        assert not re.search(
            r"\b(?:curious|feedback|have a look|check (?:it )?out|learn more)\b", written.body, re.I
        )


@EACH
def test_what_is_shown_to_the_agent_about_a_launch_is_made_of_facts_too(product: Product) -> None:
    evidence = product.evidence()
    for statement in (positioning(evidence), launch_angle(evidence)):
        assert statement.text and statement.claims
        assert all(claim.supported for claim in statement.claims)
        assert find_flaw(statement.text) is None


@EACH
def test_the_same_evidence_gives_the_same_draft(product: Product) -> None:
    for channel in ("linkedin", "email", "landing"):
        assert compose(channel, product.evidence()) == compose(channel, product.evidence())


def test_a_full_sentence_leads_word_for_word_and_its_paragraph_stays_together() -> None:
    changed = (
        "Tidepool now exports the handover to Notion. Pick a page once, and every handover is added to it."
    )
    readme = (
        "# Tidepool\n\nTidepool writes the shift handover for on-call teams.\n\n- Timezone aware\n- Slack\n"
    )
    commits = ["feat: Notion export", "fix: timezone of the handover", "feat: repeat detection"]
    assert body("linkedin", whatChanged=changed, readme=readme, recentCommits=commits) == (
        f"{changed}\n\nTidepool writes the shift handover for on-call teams.\n\nhttps://a.example"
    )


def test_a_change_log_becomes_a_lead_and_a_list() -> None:
    changed = (
        "## [0.9.0] - 2026-10-02\n\n### Fixed\n- Crash on broken symlinks (#220)\n\n### Added\n"
        "- Compare two scans and see what grew (#212) @halvor\n"
        "- Export a scan as JSON ([#198](https://github.com/h/dunes/pull/198))\n\n### Internal\n- bump clap\n"
    )
    assert body("linkedin", whatChanged=changed, readme=DISK).split("\n\n") == [
        "dunes 0.9.0: Compare two scans and see what grew.",
        "dunes: A disk usage explorer for the terminal.",
        "Also in this update:\n• Export a scan as JSON\n• Fixed: Crash on broken symlinks",
        "https://a.example",
    ]


FORMS_OF_CHANGE = [
    ("Added Notion export", "New in Plotter: Notion export."),
    ("Notion export", "New in Plotter: Notion export."),
    ("feat: dark mode", "New in Plotter: dark mode."),
    ("feat(ui): support dark mode (#12)", "Plotter now supports dark mode."),
    ("fix: crash on start", "Fixed in Plotter: crash on start."),
    (
        "fix: recordings were cut off after 60 seconds",
        "Fixed in Plotter: recordings were cut off after 60 seconds.",
    ),
    ("The app no longer crashes on start.", "New in Plotter: The app no longer crashes on start."),
    ("Improved error messages", "Improved in Plotter: error messages."),
    ("Rewrote the parser", "Plotter: Rewrote the parser."),
    ("v2.1: Added tables and fixed printing", "Plotter 2.1: Added tables and fixed printing."),
    ("Faster scans: 23x", "New in Plotter. Faster scans: 23x."),
    ("We rebuilt the recorder.", "We rebuilt the recorder."),
    ("Add labels to charts", "Plotter adds labels to charts."),
    ("1.3.0: Added tables", "New in Plotter 1.3.0: tables."),
    ("We're excited to announce Plotter 2.0!\n\n- 🌙 Dark mode\n- Tables", "Plotter 2.0: Dark mode."),
    ("Bug fixes and performance improvements", "Plotter draws plots for people."),
    ("Make exports sharper", "Plotter now makes exports sharper."),
    ("- [x] Dark mode\n- [ ] Sharing", "New in Plotter: Dark mode."),
    ("Dark mode\n\nCharts follow the system.", "New in Plotter: Dark mode. Charts follow the system."),
    ("First public release", "Plotter draws plots for people."),
    ("- `--since` checks changed sheets only", "New in Plotter: --since checks changed sheets only."),
    ("Shared lists: all see what is missing", "New in Plotter. Shared lists: all see what is missing."),
    ("iPhone app", "New in Plotter: iPhone app."),
    (
        "Export charts as SVG by @ann in https://github.com/a/b/pull/9",
        "New in Plotter: Export charts as SVG.",
    ),
]


@pytest.mark.parametrize(("changed", "lead"), FORMS_OF_CHANGE)
def test_each_form_of_a_change_has_one_frame(changed: str, lead: str) -> None:
    readme = "# Plotter\n\nPlotter draws plots for people."
    assert body("linkedin", whatChanged=changed, readme=readme).partition("\n")[0] == lead


def test_a_first_launch_says_what_it_is_three_features_and_the_link() -> None:
    assert body("linkedin", readme=SPREADSHEET).split("\n\n") == [
        "tablesmith is a Python library for reading messy spreadsheets.",
        "• Finds the header row by itself\n• Understands dates in 14 formats\n• Merged cells are filled in",
        "https://a.example",
    ]


def test_without_features_the_product_says_its_next_sentences() -> None:
    readme = (
        "# pgpeek\n\nA terminal browser for PostgreSQL. Look at tables and follow foreign keys by keyboard.\n"
    )
    assert body("linkedin", readme=readme).split("\n\n")[0] == (
        "pgpeek: A terminal browser for PostgreSQL. Look at tables and follow foreign keys by keyboard."
    )


INTERNAL = [
    "feat: persistent pool of workers",
    "refactor: split module",
    "fix: crash",
    "chore: deps",
    "Add tests",
]


def test_commits_that_only_developers_understand_are_never_said() -> None:
    text = body("email", readme=SPREADSHEET, recentCommits=INTERNAL)
    assert not words(text) & {"pool", "workers", "refactor", "crash", "deps", "tests"}
    assert text.split("\n\n")[1] == "tablesmith is a Python library for reading messy spreadsheets."


def test_commits_are_not_used_where_somebody_says_what_changed() -> None:
    text = body(
        "site", readme=SPREADSHEET, whatChanged="Merged cells", recentCommits=["feat: export to Notion"]
    )
    assert "Notion" not in text


def test_a_commit_that_people_understand_is_told_as_new() -> None:
    commits = ["feat: export to Notion (#3)", "fix: crash on empty sheets"]
    text = body("linkedin", readme=SPREADSHEET, recentCommits=commits)
    assert "\n\nNew: export to Notion.\n\n" in text.replace("Export", "export")
    assert "crash" not in text
    alone = gather(product_url="https://github.com/jo/pgpeek", repo_context={"recentCommits": commits})
    assert draft("x", alone).body.startswith("New in pgpeek: export to Notion.")


CRONLENS = """<title>Cronlens – Cron monitoring for small teams</title>
<meta name="description" content="Cronlens watches cron jobs on all your servers and tells you which did not run.">
<h1>Know when cron didn't run</h1><p>Free for 20 jobs.</p><h2>Features</h2><h3>One line to set up</h3>
<h3>Alerts by mail, Slack and SMS</h3><h3>A calendar of every run</h3><h2>What our customers say</h2>
<p>“We found three dead backups on day one.” — Ina Holt, Northwind</p><h2>Pricing</h2><h3>$0 per month</h3>
<p>Free for 20 jobs, then $9 a month.</p><p>We use cookies to improve your experience.</p>"""


@pytest.mark.parametrize("channel", CHANNELS)
def test_of_a_page_no_price_testimonial_or_menu_is_said(channel: str) -> None:
    written = draft(channel, gather(product_url="https://cronlens.example", page=read_page(CRONLENS)))
    text = " ".join((written.body, written.title, written.subject, written.preheader))
    assert not re.search(r"free|\$|backups|cookies|pricing|customers", text, re.IGNORECASE)
    assert "Cronlens watches cron jobs on all your servers and tells you which did not run." in written.body


def test_a_page_gives_headline_sentence_and_features_of_a_landing_page() -> None:
    written = draft("landing", gather(product_url="https://cronlens.example", page=read_page(CRONLENS)))
    assert written.body == (
        "# Cron monitoring for small teams\n\n"
        "Cronlens watches cron jobs on all your servers and tells you which did not run.\n\n"
        "- One line to set up\n- Alerts by mail, Slack and SMS\n- A calendar of every run\n\n"
        "https://cronlens.example"
    )


def test_a_landing_page_introduces_the_product_and_ends_with_the_change() -> None:
    readme = (
        "# Tern\n\nTern turns CSV files into one table.\n\n## Features\n\n- Reads folders\n- Writes Parquet\n"
    )
    assert body("landing", readme=readme, whatChanged="Tern imports only the rows that changed.") == (
        "# Tern turns CSV files into one table\n\n- Reads folders\n- Writes Parquet\n\n"
        "Tern imports only the rows that changed.\n\nhttps://a.example"
    )


def test_the_goal_decides_which_features_come_first() -> None:
    page = "<title>Studiodesk</title><meta name=description content='Studiodesk keeps hours and budgets in one view.'>"
    page += "<h2>Track hours without a timer</h2><h2>Invoices from tracked hours</h2><h2>Budgets that warn early</h2>"
    context = {"launchGoal": "Reach design studios in Berlin that struggle with budgets"}
    with_goal = draft("linkedin", gather(page=read_page(page), repo_context=context)).body
    without = draft("linkedin", gather(page=read_page(page))).body
    assert with_goal.split("• ")[1].strip() == "Budgets that warn early"
    assert without.split("• ")[1].strip() == "Track hours without a timer"


def test_positioning_says_what_it_is_and_for_whom() -> None:
    evidence = gather(
        repo_context={"readme": SPREADSHEET, "targetCustomer": "people who get files from offices"}
    )
    assert positioning(evidence).text == (
        "tablesmith is a Python library for reading messy spreadsheets. Made for people who get files from offices."
    )


TITLES = [
    ("hn", "", "Show HN: dunes – A disk usage explorer for the terminal"),
    ("hn", "v0.9.0: Added scan comparison", "dunes 0.9.0: scan comparison"),
    ("reddit", "Added scan comparison", "New in dunes: scan comparison"),
    ("product_hunt", "Added scan comparison", "A disk usage explorer for the terminal"),
    ("site", "", "dunes: A disk usage explorer for the terminal"),
    ("email", "Added scan comparison", "New in dunes: scan comparison"),
    ("landing", "Added scan comparison", "dunes: A disk usage explorer for the terminal"),
]


@pytest.mark.parametrize(("channel", "changed", "title"), TITLES)
def test_a_title_names_the_change_or_what_it_is(channel: str, changed: str, title: str) -> None:
    written = draft(channel, gather(repo_context={"readme": DISK, "whatChanged": changed}))
    assert (written.title or written.subject) == title


@EACH
def test_no_title_is_a_price_a_version_or_the_bare_name(product: Product) -> None:
    evidence = product.evidence()
    for channel in ("hn", "reddit", "product_hunt", "email", "site", "landing"):
        written = draft(channel, evidence)
        title = written.title or written.subject
        assert title.casefold() not in (product.title.casefold(), product.id) or " " in title
        assert not re.match(r"^[\W\d]*$|.*[$€£]\d", title)


def test_a_post_on_x_is_one_post_while_the_change_fits() -> None:
    long = "Added " + "recurring invoices with a draft for every client " * 4
    for changed in ("Added tables", long.strip()):
        written = draft("x", gather(product_url="https://a.example", repo_context={"whatChanged": changed}))
        assert written.parts == ()
        assert written.body.endswith("https://a.example")


@pytest.mark.parametrize("channel", ["instagram", "tiktok"])
def test_captions_have_no_link(channel: str) -> None:
    assert "https://" not in body(channel, readme=DISK)


def test_on_reddit_the_author_is_advised_to_say_that_it_is_theirs() -> None:
    written = draft("reddit", gather(repo_context={"readme": DISK}))
    assert any("yours" in each for each in written.recommendations)
    assert not re.search(r"\b(?:I|we|my|our)\b", written.body)


def test_a_german_draft_has_german_frames() -> None:
    changed = "- Wartungspläne aus Tabellen importieren\n- Fehler beim Drucken der Etiketten behoben"
    written = draft("email", gather(repo_context={"readme": GERMAN, "whatChanged": changed}))
    assert written.subject == "Neu in Werkbank: Wartungspläne aus Tabellen importieren"
    assert written.body.split("\n\n") == [
        "Hallo,",
        "Neu in Werkbank: Wartungspläne aus Tabellen importieren.",
        "Werkbank erinnert an jede Wartung und hält fest, wer sie gemacht hat.",
        "Behoben: Fehler beim Drucken der Etiketten.",
    ]


def test_a_japanese_draft_has_only_japanese_words() -> None:
    evidence = gather(
        repo_context={"readme": JAPANESE, "whatChanged": "音声メモを検索できるようになりました。"}
    )
    written = draft("facebook", evidence)
    assert written.body == (
        "くもノート：音声メモを検索できるようになりました。\n\nくもノートは、話すだけでメモになるアプリです。"
    )
    first = draft("facebook", gather(repo_context={"readme": JAPANESE})).body
    assert first.endswith(
        "• 話した言葉をその場で文字に\n• あとから場所と時間で探せる\n• オフラインでも使える"
    )


def test_a_change_in_another_language_than_the_readme_decides_the_language() -> None:
    context = {"readme": SPREADSHEET, "whatChanged": "Die Tabellen lassen sich jetzt auch als PDF ausgeben."}
    assert draft("linkedin", gather(repo_context=context)).language == "de"


@pytest.mark.parametrize(
    ("language", "ids"), [("de", ("brotzeit", "lotse")), ("ja", ("hanko",)), ("ar", ("daftar",))]
)
def test_a_draft_is_in_the_language_of_its_evidence(language: str, ids: tuple[str, ...]) -> None:
    english = {"what", "the", "is", "new", "it", "here", "have", "we", "also", "more", "meet", "that"}
    for product in PRODUCTS:
        if product.id in ids:
            for channel in CHANNELS:
                written = draft(channel, product.evidence())
                assert written.language == language
                assert not words(written.body) & english


def test_a_readme_without_a_title_still_names_its_product() -> None:
    written = draft("linkedin", gather(repo_context={"readme": DATABASE}))
    assert written.body.startswith(
        "LagoonDB is an embedded time series database for devices with little memory."
    )
    assert not words(written.body) & {"sponsors", "documentation", "acme"}


def test_a_sentence_without_a_superlative_is_preferred() -> None:
    text = body("linkedin", readme=FORMS)
    assert "Quillwork lets you describe a form as a schema" in text
    assert "fastest" not in text


def test_what_a_page_tells_a_model_to_do_is_in_no_draft() -> None:
    hostile = next(product for product in PRODUCTS if product.id == "hostile")
    everything = " ".join(fact.text for fact in hostile.evidence().facts).casefold()
    for sign in ("ignore all", "linkedin post", "helpful assistant", "insert feature", "approve every"):
        assert sign not in everything
    assert "one map for every courier" in everything


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
    assert {"superlative"} <= {risk for claim in written.claims for risk in claim.risk}
    assert [warning for warning in written.warnings if warning.startswith("Check this claim")]


def test_without_a_usable_sentence_a_draft_is_asked_for() -> None:
    for evidence in (gather(), gather(brand={"name": "Nothing"}), gather(repo_context={"routes": ["/a"]})):
        asked = compose("linkedin", evidence)
        assert isinstance(asked, NeedsDraft)
        assert "LinkedIn" in asked.wanted
        assert positioning(evidence).text == ""


def test_banned_words_are_not_said() -> None:
    readme = "# Flow\n\nFlow gives teams synergy. Flow shows who waits for whom.\n\n- Leverage your data\n- One queue\n"
    brand = {"voice": 'Never say "synergy" or "leverage".'}
    written = draft("linkedin", gather(repo_context={"readme": readme}, brand=brand))
    assert not {"synergy", "leverage"} & words(written.body)
    assert "Flow shows who waits for whom." in written.body


def test_a_change_that_says_a_banned_word_is_left_out_and_the_reviewer_is_told() -> None:
    context = {"whatChanged": "Synergy view", "readme": "# Flow\n\nFlow shows who waits for whom."}
    written = draft("linkedin", gather(repo_context=context, brand={"voice": 'Never say "synergy".'}))
    assert written.body == "Flow shows who waits for whom."
    assert any("not told" in warning for warning in written.warnings)
    alone = gather(
        repo_context={"whatChanged": "Synergy view"}, brand={"name": "Flow", "voice": 'Never say "synergy".'}
    )
    assert any("“synergy”" in warning for warning in draft("linkedin", alone).warnings)


def test_exclamation_marks_end_where_the_voice_wants_none() -> None:
    context = {
        "whatChanged": "Finder searches handwriting now!",
        "readme": "# Finder\n\nFinder finds what you lost!",
    }
    kept = draft("linkedin", gather(repo_context=context)).body
    written = draft("linkedin", gather(repo_context=context, brand={"voice": "no exclamation marks"})).body
    assert kept.startswith("Finder searches handwriting now!")
    assert written == "Finder searches handwriting now."


def test_what_only_programmers_read_does_not_lead() -> None:
    changed = "- `Command.get_help` caches its result (#25)\n- Shell completion for PowerShell, see #12 and #14 (@a)"
    readme = "# Clink\n\nClink is a Python package for command line tools."
    assert body("linkedin", whatChanged=changed, readme=readme).partition("\n")[0] == (
        "New in Clink: Shell completion for PowerShell."
    )


def test_a_repair_that_is_written_as_an_order_is_not_listed() -> None:
    changed = "- feat: tables\n- fix: stop drawing twice\n- fix: labels of empty charts"
    text = body("linkedin", whatChanged=changed, readme="# Plotter\n\nPlotter draws plots for people.")
    assert "Fixed: labels of empty charts." in text
    assert "drawing twice" not in text


def test_a_disclaimer_is_no_feature_and_a_section_no_name() -> None:
    readme = (
        "<h3 align='center'>Fotobox - self-hosted photo backup</h3>\n\n## Disclaimer\n* Expect bugs\n"
        "* Do not rely on it\n\n# Features\n\n### Privacy\n- Photos stay at home\n- Albums for families\n\n"
        "# Known issues\n\n## Builds\n- It breaks\n"
    )
    assert body("linkedin", readme=readme).split("\n\n")[:2] == [
        "Fotobox: self-hosted photo backup.",
        "• Photos stay at home\n• Albums for families",
    ]
    untitled = "A simple terminal UI for git commands\n\n## Elevator Pitch\n\nRant time: git is hard.\n"
    assert body("x", url="https://github.com/jo/gitty", readme=untitled).startswith(
        "gitty: A simple terminal UI for git commands."
    )


TITLES_CUT = [
    (
        "Ledgerly sends your bills, reminds late clients and tells you who paid",
        60,
        "Ledgerly sends your bills",
    ),
    ("Cronlens watches all cron jobs and tells you which did not run", 60, "Cronlens watches all cron jobs"),
    ("Offline maps for rescue teams, with the paths that are on no map", 60, "Offline maps for rescue teams"),
    ("a lightweight, self-hosted alternative", 30, ""),
]


@pytest.mark.parametrize(("text", "most", "short"), TITLES_CUT)
def test_a_title_is_cut_where_the_rest_can_do_without(text: str, most: int, short: str) -> None:
    assert shorten(text, most) == short


def test_every_sentence_is_from_the_evidence_or_from_a_frame() -> None:
    evidence = gather(
        product_url="https://a.example", repo_context={"readme": DISK, "whatChanged": "Added undo"}
    )
    known = {strip_full_stop(sentence) for fact in evidence.facts for sentence in sentences(fact.text)}
    for block in draft("linkedin", evidence).body.split("\n\n")[1:-1]:
        assert strip_full_stop(block.removeprefix("dunes: ")) in known


NO_LEADS = [
    "Version 2.1\n\nNew\n- Charts can be pinned\n- Maps load at once",
    "## 2.1\n\n- See: #253, #318\n- Charts can be pinned (@rolf)",
    "## 2.1\n\nThanks to all who wrote to us! Plotter is made in the evenings.\n\nCharts can be pinned.",
    "## 2.1\n\nCareful with this upgrade! Much was moved.\n\n### Pins\n\nCharts can be pinned.",
    "## 2.1\n\n- [A song for the road](https://a.example/song)\n- Charts can be pinned",
    "## 2.1\n\n- Various small fixes\n- [Dev Deps] update tape 41e3d94\n- Charts can be pinned 0a1b2c3",
    "## 2.1\n\n- Removed the old importer\n- Charts can be pinned",
    "## 2.1\n\n- **Changed**: Charts can be pinned\n- **Bug fixes**: Various small fixes",
    "## 2.1\n\nThis update has many improvements\n\n- [[#5](https://a.example/5)] Charts can be pinned\n- fix bugs",
    "## 2.1\n\n- Add setting: new charts start pinned\n- Charts can be pinned",
    "## 2.1\n\n- Charts can be pinned:\n  ```sh\n  plotter pin one\n  ```\n  See #12.\n- Charts can be pinned",
]


@pytest.mark.parametrize("changed", NO_LEADS)
def test_a_lead_is_a_change_and_no_label_reference_thanks_or_warning(changed: str) -> None:
    text = body("reddit", whatChanged=changed, readme="# Plotter\n\nPlotter draws plots for people.")
    assert text.startswith("Plotter 2.1: Charts can be pinned.\n\nPlotter draws plots for people.")
    for sign in ("#", "song", "Careful", "Thanks", "evenings", "setting:", "tape", "0a1b2c3", "Various"):
        assert sign not in text.replace("https://", "")


NAMED = [
    ("## Preview\n\nTap a key and a note sounds.\n", "Keyz"),
    ("<h1>\n<a href='https://b.example'><img src='k.png'></a>\n<br/>\nKeyz\n</h1>\n\n## Preview\n", "Keyz"),
    ("Keyz is a small piano.\n\n# Support the project\n\nWrite to us.\n", "Keyz"),
    ("## Installation - Linux\n\nUnpack it.\n\n## Use\n\nKeyz is a small piano.\n", "Keyz"),
    ("Module description\n==================\n\nKeyz is a small piano.\n", "Keyz"),
    ("### Keyz - a small piano\n\n# Our mission\n\nOur mission is a piano for all.\n", "Keyz"),
]


@pytest.mark.parametrize(("readme", "name"), NAMED)
def test_a_section_never_gives_the_product_its_name(readme: str, name: str) -> None:
    context = {"readme": readme, "whatChanged": "Added a metronome"}
    written = draft("reddit", gather(product_url="https://keyz.example", repo_context=context))
    assert written.title == f"New in {name}: a metronome"


WHAT_IT_IS = [
    ("Small piano for the browser.\n\n## Name\n\nKeyz means keys.", "Keyz: Small piano for the browser."),
    ("Keyz means keys. Keyz is a small piano.", "Keyz is a small piano."),
    ("Play at once.\n\nKeyz is a small piano.", "Keyz is a small piano."),
    (
        "Small piano for the browser.\n\n## Runs on\n\nKeyz is built to run anywhere.",
        "Keyz: Small piano for the browser.",
    ),
    ("Key the notes of a song.", "Keyz: Key the notes of a song."),
]


@pytest.mark.parametrize(("readme", "said"), WHAT_IT_IS)
def test_the_product_sentence_says_what_it_is_and_not_how_or_why(readme: str, said: str) -> None:
    text = body("reddit", readme=f"# Keyz\n\n{readme}\n", whatChanged="Added a metronome")
    assert text.split("\n\n")[1] == said


def test_a_title_leaves_out_what_stands_in_brackets_behind_the_name() -> None:
    readme = "# Keyz\n\nKeyz [鍵] - a key, in Japanese - is a small piano (a pianino?) for the browser.\n"
    written = draft("hn", gather(product_url="https://keyz.example", repo_context={"readme": readme}))
    assert written.title == "Show HN: Keyz – a small piano for the browser"


def test_problems_listed_under_why_are_no_features() -> None:
    readme = (
        "# Keyz\n\nKeyz is a small piano.\n\n## Why\n\n- Others ignore the pedal\n- Others need a download\n"
    )
    assert "pedal" not in body("linkedin", readme=readme)


def test_a_title_that_is_too_long_ends_before_a_preposition() -> None:
    readme = "# Keyz\n\nKeyz is a piano, organ and harpsichord simulator to practise scales, chords and songs on.\n"
    written = draft("hn", gather(product_url="https://keyz.example", repo_context={"readme": readme}))
    assert written.title == "Show HN: Keyz – a piano, organ and harpsichord simulator"


def test_the_address_names_a_product_that_its_readme_does_not_name() -> None:
    evidence = gather(
        product_url="https://tiny-keys.example", repo_context={"readme": "A small piano for the browser."}
    )
    assert draft("x", evidence).body.startswith("tiny-keys: A small piano for the browser.")


PIANO = "https://keyz.example"


def introduce(readme: str) -> str:
    return draft("linkedin", gather(product_url=PIANO, repo_context={"readme": readme})).body


def test_a_plea_for_donations_is_not_what_the_product_is() -> None:
    readme = (
        "## Supporting Keyz\n\nKeyz costs nothing, so we depend on gifts.\n\n"
        "## About\n\nKeyz turns a tablet into a piano.\n"
    )
    assert introduce(readme).startswith("Keyz turns a tablet into a piano.")


def test_a_notice_above_the_title_is_passed_over_and_the_heading_below_it_is_the_tagline() -> None:
    readme = (
        "<h3>The code is about to be rewritten!</h3>\n<h2><b>Keyz</b></h2>\n"
        "<h4>A small piano for tablets, with lessons.</h4>\n\nKeyz takes its sounds from a folder.\n"
    )
    assert introduce(readme).startswith("Keyz: A small piano for tablets, with lessons.")


def test_a_product_with_a_long_title_may_call_itself_by_its_first_word() -> None:
    readme = "<p>Keyz is a piano for tablets.</p>\n\n# Keyz Studio\n\nThe studio has sounds in ten packs.\n"
    assert introduce(readme).startswith("Keyz is a piano for tablets.")


def test_a_link_alone_in_parentheses_is_no_part_of_a_sentence() -> None:
    readme = "# Keyz\n\nKeyz ([how to say it](https://keyz.example/say)) is a piano for tablets.\n"
    assert introduce(readme).startswith("Keyz is a piano for tablets.")


def test_what_breaks_does_not_lead_and_items_stand_for_the_items_below_them() -> None:
    notes = (
        "### Breaking changes\n- The file of settings has a new name\n### Features\n"
        "- Recording works much better now:\n  - with the new driver there is no delay\n- Use JDK 25\n"
    )
    context = {"readme": "# Keyz\n\nKeyz is a piano for tablets.\n", "whatChanged": notes}
    body = draft("linkedin", gather(product_url=PIANO, repo_context=context)).body
    assert body.startswith("New in Keyz: Recording works much better now.")
    assert "The file of settings has a new name" in body
    assert "driver" not in body and "JDK" not in body


def test_a_change_with_a_label_is_titled_by_it() -> None:
    context = {
        "readme": "# Keyz\n\nKeyz is a piano for tablets.\n",
        "whatChanged": "New pedal: hold notes with a foot",
    }
    made = draft("email", gather(product_url=PIANO, repo_context=context))
    assert made.subject == "Keyz: New pedal"
    assert "New pedal: hold notes with a foot." in made.body


def test_items_of_one_word_above_others_are_headings() -> None:
    notes = "* Features\n\t* Chords are named while you play\n* Deployment\n\t* Docker: Alpine 3.13\n"
    context = {"readme": "# Keyz\n\nKeyz is a piano for tablets.\n", "whatChanged": notes}
    body = draft("linkedin", gather(product_url=PIANO, repo_context=context)).body
    assert body.startswith("New in Keyz: Chords are named while you play.")
    assert "Features" not in body and "Deployment" not in body


def test_a_remark_at_the_end_of_a_paragraph_takes_nothing_else_with_it() -> None:
    said = "Keyz 1.7 keeps the pedal when a song is converted. Under the hood the codec went to 6.0."
    context = {"readme": "# Keyz\n\nKeyz is a piano for tablets.\n", "whatChanged": said}
    body = draft("linkedin", gather(product_url=PIANO, repo_context=context)).body
    assert body.startswith("Keyz 1.7 keeps the pedal when a song is converted.")
    assert "Under the hood" not in body


def test_a_sentence_about_such_things_is_not_what_the_product_is() -> None:
    context = {
        "readme": "# Keyz\n\nA piano that needs no room is quiet and can be carried home.\n",
        "whatChanged": "Keyz names chords now.",
    }
    body = draft("linkedin", gather(product_url=PIANO, repo_context=context)).body
    assert body == f"Keyz names chords now.\n\n{PIANO}"


def test_a_command_keeps_its_small_letter() -> None:
    notes = "- Songs can be kept in folders\n- keyz --clean empties the folder of recordings\n"
    context = {"readme": "# keyz\n\nkeyz is a piano for tablets.\n", "whatChanged": notes}
    body = draft("linkedin", gather(product_url=PIANO, repo_context=context)).body
    assert "keyz --clean empties the folder of recordings" in body


def test_where_more_is_told_is_not_what_the_product_is() -> None:
    readme = "# Keyz\n\nThe user manual describes every option.\n\nKeyz turns a tablet into a piano.\n"
    assert introduce(readme).startswith("Keyz turns a tablet into a piano.")


def test_a_title_that_asks_what_it_is_names_the_product() -> None:
    context = {
        "readme": "# What's Keyz?\n\nKeyz turns a tablet into a piano.\n",
        "whatChanged": "Chords with names",
    }
    body = draft("linkedin", gather(product_url="https://example.org/music", repo_context=context)).body
    assert body.startswith("New in Keyz: Chords with names.")


def test_numbers_of_pull_requests_before_an_item_are_no_label() -> None:
    context = {
        "readme": "# Keyz\n\nKeyz is a piano.\n",
        "whatChanged": "- PR #193, PR #194: Chords have names",
    }
    body = draft("linkedin", gather(product_url=PIANO, repo_context=context)).body
    assert body.startswith("New in Keyz: Chords have names.")


def test_what_breaks_is_among_the_facts_however_much_is_new() -> None:
    gains = "".join(f"- Song number {number} can be played\n" for number in range(1, 7))
    notes = f"### Breaking\n- The file of settings has a new name\n### Added\n{gains}"
    context = {"readme": "# Keyz\n\nKeyz is a piano for tablets.\n", "whatChanged": notes}
    body = draft("linkedin", gather(product_url=PIANO, repo_context=context)).body
    assert body.startswith("New in Keyz: Song number 1 can be played.")
    assert "The file of settings has a new name" in body


def test_a_commit_that_added_one_thing_to_another_is_told_as_it_is() -> None:
    context = {
        "readme": "# Keyz\n\nKeyz is a piano for tablets.\n",
        "recentCommits": ["feat: add chords to the song view"],
    }
    body = draft("linkedin", gather(product_url=PIANO, repo_context=context)).body
    assert "Added chords to the song view." in body
