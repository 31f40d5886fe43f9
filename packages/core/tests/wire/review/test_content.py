"""What a person reads before deciding: all of it, as it will be sent, and inert."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Sequence
from html.parser import HTMLParser

import msgspec
import pytest
from markupsafe import escape
from tests.support.review.hostile import CORPUS
from tests.support.review.kit import TEXT, Server, form, mail, post, put_everywhere

from assent.gate.records import Media
from assent.ports import Draft, StagedEffect
from assent.serving.web.review.content import (
    MOST_LINKS,
    find_fold,
    frame,
    html_targets,
    html_text,
    list_links,
    targets,
)
from assent.serving.web.shell.headers import (
    CONTENT_SECURITY_POLICY,
    DECIDING_POLICY,
    FRAMING_POLICY,
    SCRIPTED_POLICY,
)
from assent.serving.web.shell.unseen import pieces


def text_of(page: str) -> list[str]:
    """The content boxes of a page."""
    return [
        html.unescape(found.replace('<span class="fold"></span>', ""))
        for found in re.findall(r'<div class="text" dir="auto">(.*?)</div>', page, re.DOTALL)
    ]


@pytest.mark.rule("E21")
async def test_the_whole_text_is_there_with_its_white_space_and_every_fact_about_it(server: Server) -> None:
    run = await server.stage(
        post(
            warnings=("It claims a number without a source.",),
            recommendations=("Add a picture.",),
            gates=("legal_review",),
            cost_credits=3,
            media=(Media(kind="image", url="https://cdn.example/a.png", alt="A screenshot"),),
            link="https://example.org/launch",
            target={"account": "acme-inc"},
            details={"visibility": "public"},
        )
    )
    page = await server.page(await server.opened(run), run.run_id)

    assert text_of(page) == [TEXT]
    for fact in (
        "Post on LinkedIn: ",
        "Posts this to LinkedIn as acme-inc through Zernio.",
        "Medium risk",
        "It claims a number without a source.",
        "Add a picture.",
        "Legal review",
        "Zernio, ready",
        "3 credits",
        "https://cdn.example/a.png",
        "A screenshot",
        "https://example.org/launch",
        "visibility",
        "Revision 1",
        run.actions[0].digest.removeprefix("sha256:")[:8],
        "Prepared by an agent on this computer",
        "Waits for approval",
    ):
        assert fact in page, fact


async def test_beyond_fifty_recipients_their_domains_are_counted_and_nothing_is_folded_away(
    server: Server,
) -> None:
    run = await server.stage(mail(60, html="<p>Hi</p>"))
    await server.decide(await server.owner(), run.run_id, run.actions[0].id, "edit", recipients=MANY)
    page = await server.page(await server.owner(), run.run_id)

    assert "60 people at 2 domains" in page
    assert page.index("evil.example</code> (1)") < page.index("example.org</code> (59)")
    content = page[page.index('<div class="content') : page.index('<div class="decide"')]
    assert list_folded(content) == {"past", "more"}


def list_folded(page: str) -> set[str]:
    """The classes of what is folded. No approval covers what is in "past", the history, and "more", the details."""
    return set(re.findall(r'<details(?![^>]* open)(?: class="([^"]*)")?[^>]*>', page))


MANY = "\n".join([*(f"reader{number}@example.org" for number in range(59)), "eve@evil.example"])


async def test_a_mail_shows_sender_subject_and_every_recipient(server: Server) -> None:
    run = await server.stage(mail(60, preheader="It waits for your yes."))
    page = await server.page(await server.owner(), run.run_id)

    assert (
        "Sends this to 60 people: reader1@example.org, reader2@example.org, reader3@example.org and 57 more"
        in page
    )
    for number in range(1, 61):
        assert f"<li><bdi>reader{number}@example.org</bdi></li>" in page
    assert "Assent is here" in page
    assert "Ada &lt;ada@example.com&gt;" in page
    assert "It waits for your yes." in page
    assert "It goes to 60 people, which is more than 50." in page


async def test_copies_and_the_address_for_answers_are_shown_and_edited_like_the_recipients(
    server: Server,
) -> None:
    run = await server.stage(mail(2, cc=("lena@example.org",), reply_to="desk@example.com"))
    browser, action_id = await server.opened(run), run.actions[0].id
    page = await server.page(browser, run.run_id)
    wrong = await server.decide(
        browser, run.run_id, action_id, "edit", reply_to="a@example.org, b@example.org"
    )
    await server.decide(
        browser, run.run_id, action_id, "edit", cc="mo@example.org, eve@example.org", reply_to=""
    )
    effect = (await server.action(action_id)).effect

    assert "<dt>Cc</dt>" in page and "<bdi>lena@example.org</bdi>" in page
    assert "<dt>Reply to</dt>" in page and "They see each other" in page
    assert wrong.status_code == 400
    assert (effect.cc, effect.reply_to) == (("mo@example.org", "eve@example.org"), "")


async def test_the_html_part_is_shown_as_text_with_where_its_links_lead_and_never_rendered(
    server: Server,
) -> None:
    source = (
        "<h1>Hello</h1><p>Read <a href='https://evil.example/login'>https://example.org/assent</a></p>"
        "<img src='https://track.example/pixel.gif'><script>alert(1)</script>"
    )
    run = await server.stage(mail(html=source))
    page = await server.page(await server.opened(run), run.run_id)

    assert source not in page
    assert escape("<img src='https://track.example/pixel.gif'>") in page
    assert "says example.org, leads to evil.example" in page
    assert "https://track.example/pixel.gif" in page


async def test_the_html_of_a_mail_comes_before_its_text_and_is_not_behind_a_click(server: Server) -> None:
    run = await server.stage(mail(html="<p>Hi <a href='https://evil.example/'>paypal.com</a></p>"))
    page = await server.page(await server.opened(run), run.run_id)

    frame = page.index("<iframe")
    assert page.index("says paypal.com, leads to evil.example") < page.index("<details", frame)
    assert frame < page.index('<div class="text" dir="auto">')
    assert page.count("<details", page.index('<div class="content'), frame) == 0


def test_a_background_is_shown_as_it_was_written_and_loads_nothing() -> None:
    shown = frame(
        '<div style="background:#0b6a4f url(https://evil.example/a.png);color:#fff">White on green</div>'
        '<p style="background: \\75rl(https://evil.example/b.png)">x</p>'
        "<p style=\"background:image-set('https://evil.example/c.png' 1x)\">y</p>"
    )

    assert "background:#0b6a4f" in shown.replace(" ", "") and "color:#fff" in shown
    assert "evil.example" not in shown


def test_the_style_of_the_whole_is_shown_around_what_it_holds() -> None:
    shown = frame(
        '<html><body bgcolor="#000000" text="#ffffff" style="background:url(https://evil.example/a.png);'
        'font-size:20px"><p>White on black</p></div><p>still</p></body></html>'
    )

    body = shown.split("<body>")[1].replace(" ", "")
    assert body.startswith('<divstyle="background-color:#000000;color:#ffffff;font-size:20px"><p>')
    assert body.endswith("<p>still</p></div></body></html>") and "evil.example" not in shown


@pytest.mark.parametrize(
    ("html", "named"),
    [
        ("<style>p{display:none}</style><p>Hi</p>", True),
        ('<link rel="stylesheet" href="https://a.example/a.css"><p>Hi</p>', True),
        ("<p style='color:red'>Hi</p>", False),
    ],
)
async def test_a_style_sheet_that_is_left_out_is_named(server: Server, html: str, named: bool) -> None:
    run = await server.stage(mail(html=html))
    page = await server.page(await server.opened(run), run.run_id)

    assert ("It has a style sheet, which is left out here" in page) is named


async def test_a_connector_that_fails_to_say_whether_it_is_ready_does_not_take_the_page_away(
    server: Server,
) -> None:
    run = await server.stage(post())

    async def broken(workspace_id: object) -> None:
        raise RuntimeError("boom")

    server.provider.readiness = broken  # type: ignore[assignment, method-assign]

    assert "Zernio, ready" in await server.page(await server.opened(run), run.run_id)


async def test_a_run_without_actions_shows_what_it_made(server: Server) -> None:
    run = await server.stage(
        drafts=(Draft(type="report", title="Last week", body="Two posts.\n\n400 readers."),)
    )
    page = await server.page(await server.opened(run), run.run_id)

    assert "Nothing to approve here" in page
    assert text_of(page) == ["Two posts.\n\n400 readers."]


class _Shape(HTMLParser):
    """Which tags a page has, and with which attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[tuple[str, tuple[str, ...]]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add((tag, tuple(sorted(name for name, _ in attrs))))


def shape(page: str) -> set[tuple[str, tuple[str, ...]]]:
    parser = _Shape()
    parser.feed(page)
    return parser.seen


async def filled_with(server: Server, words: str, *, html: bool = True) -> tuple[str, str]:
    """A run that has these words in every place that can hold any."""
    run = await server.stage(mail(warnings=(words,), recommendations=(words,), gates=(words,)))
    action = await server.action(run.actions[0].id)
    effect = put_everywhere(
        action.effect,
        words,
        channel=words,
        html=words if html else "",
        recipients=(words, *action.effect.recipients),
    )
    await server.overwrite(action, effect)
    return run.run_id, action.action_id


@pytest.fixture
async def known_shape(server: Server) -> set[tuple[str, tuple[str, ...]]]:
    """The tags of our own templates, with content that brings out all of them."""
    words = "Hi\u200b [a](https://xn--b.example) <a href='https://c.example'>d</a>"
    run_id, _ = await filled_with(server, words)
    _, plain_id = await filled_with(server, words, html=False)
    owner = await server.owner()
    paths = (f"/runs/{run_id}", "/inbox", f"/inbox/pane/{plain_id}")
    return set().union(*[shape((await owner.get(path)).text) for path in paths])


@pytest.mark.parametrize("payloads", [CORPUS[at : at + 5] for at in range(0, len(CORPUS), 5)], ids=repr)
async def test_hostile_content_is_text_wherever_it_stands(
    server: Server, known_shape: set[tuple[str, tuple[str, ...]]], payloads: Sequence[str]
) -> None:
    owner = await server.owner()
    for payload in payloads:
        run_id, action_id = await filled_with(server, payload)
        _, plain_id = await filled_with(server, payload, html=False)

        answer, inbox = await owner.get(f"/runs/{run_id}"), await owner.get("/inbox")
        pane = await owner.get(f"/inbox/pane/{plain_id}")

        assert answer.status_code == inbox.status_code == pane.status_code == 200
        assert answer.headers["content-security-policy"] == DECIDING_POLICY
        assert inbox.headers["content-security-policy"] == SCRIPTED_POLICY
        assert shape(answer.text) <= known_shape
        assert shape(inbox.text) <= known_shape
        # A form that decides in place, in the page that runs scripts.
        assert "data-signs" in pane.text
        assert shape(pane.text) <= known_shape
        assert scripts(pane.text) == []
        assert scripts(answer.text) == ["keys", "decide"]
        assert scripts(inbox.text) == ["htmx", "htmx-sse", "keys", "decide", "console"]
        assert form(answer.text, action_id, "edit").fields["body"] == payload


def scripts(page: str) -> list[str]:
    """The names of the script files of a page, none of which is inline or from elsewhere."""
    found: list[str] = re.findall(r"<script\b[^>]*>[^<]*", page)
    ours = [re.fullmatch(r'<script src="/static/([\w-]+)\.[0-9a-f]{16}\.js" defer>', each) for each in found]
    assert all(ours), found
    return [each[1] for each in ours if each]


def rules(policy: str) -> dict[str, str]:
    return dict(rule.split(" ", 1) for rule in policy.split("; "))


def test_scripts_are_files_of_this_server_and_frames_its_own_whatever_decides() -> None:
    scripted = rules(CONTENT_SECURITY_POLICY) | {"script-src": "'self'", "connect-src": "'self'"}

    assert rules(SCRIPTED_POLICY) == scripted
    assert rules(DECIDING_POLICY) == {**scripted, "frame-src": "'self'"}
    assert rules(FRAMING_POLICY) == {**rules(CONTENT_SECURITY_POLICY), "frame-src": "'self'"}


@pytest.mark.parametrize(
    ("draft", "by_link", "signed_in"),
    [
        (post(), CONTENT_SECURITY_POLICY, SCRIPTED_POLICY),
        (mail(html="<script>alert(1)</script>"), FRAMING_POLICY, DECIDING_POLICY),
    ],
)
async def test_a_page_opened_by_a_review_link_runs_no_script(
    server: Server, draft: StagedEffect, by_link: str, signed_in: str
) -> None:
    run = await server.stage(draft)
    for browser, policy in ((await server.opened(run), by_link), (await server.owner(), signed_in)):
        answer = await browser.get(f"/runs/{run.run_id}")

        assert answer.headers["content-security-policy"] == policy
        assert scripts(answer.text) == (["keys", "decide"] if policy == signed_in else [])
    assert "script-src 'none'" in by_link


async def test_hostile_words_of_a_reviewer_are_text_too(server: Server) -> None:
    run = await server.stage(post())
    browser = await server.opened(run)
    evil, name = '"><img src=x onerror=alert(1)>', '" onmouseover="alert(1)'

    await server.decide(browser, run.run_id, run.actions[0].id, "reject", reason=evil, name=name)

    page = await server.page(browser, run.run_id)
    assert "<img src=x" not in page and name not in page
    assert escape(evil) in page and escape(name) in page


async def test_empty_lines_that_push_the_rest_out_of_sight_are_counted(server: Server) -> None:
    run_id, _ = await server.store_as_is(mail(body="Safe." + "\n" * 399 + " \nNot safe.\n\n\nEnd."))
    page = await server.page(await server.owner(), run_id)

    assert 'Safe.\n<span class="unseen">399 empty lines</span>\nNot safe.\n\n\nEnd.' in page


HIDDEN = "\u202e\u200b\U000e0041"
"""Turns the text around, is nothing, and is a letter that nobody sees."""


async def test_characters_that_nobody_sees_are_named_in_every_field(server: Server) -> None:
    run_id, _ = await filled_with(server, f"Price {HIDDEN} euro")
    owner = await server.owner()
    page = await server.page(owner, run_id)

    visible = re.sub(r"<(textarea|title)\b.*?</\1>|<[^>]*>", "", page, flags=re.DOTALL)
    for char in HIDDEN:
        assert char not in visible, visible[visible.index(char) - 300 : visible.index(char)]
    for field in ("From", "Subject", "Preview", "Title"):
        [shown] = re.findall(rf"<dt>{field}</dt><dd>(.*?)</dd>", page, re.DOTALL)
        assert '<span class="unseen">U+202E</span>' in shown, field
    assert '<span class="unseen">U+202E</span>' in (await owner.get("/inbox")).text


async def test_a_recipient_at_a_name_that_looks_like_another_is_marked(server: Server) -> None:
    run_id, _ = await server.store_as_is(
        StagedEffect(
            effect=msgspec.structs.replace(
                mail().effect, recipients=("ann@ex\u0430mple.org", "bob@example.org")
            ),
            executor_tool="chieflab_send_email",
        )
    )
    page = await server.page(await server.owner(), run_id)

    [shown] = re.findall(r"<dt>To</dt><dd>(.*?)</dd>", page, re.DOTALL)
    assert "xn--exmple-4nf.org" in shown
    assert shown.count("its name may look like another") == 1


def test_joiners_that_scripts_and_emoji_need_stay_as_they_are() -> None:
    for text in (
        "👩\u200d💻",
        "👩🏽\u200d🚀",
        "❤\ufe0f\u200d🔥",
        "1\ufe0f\u20e3",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "葛\U000e0100",
        "⠓⠊\u2800⠽⠕⠥",
        "ᠠ\u180b",
        "می\u200cخواهم",
        "क्\u200dष",
        "❤️",
        "naïve café",
        "a\tb\nc",
    ):
        assert [piece.text for piece in pieces(text)] == [text]


@pytest.mark.parametrize(
    "char",
    [
        "\u034f",
        "\u17b4",
        "\u2800",
        "\u180b",
        "\U0001d173",
        "\ufe01",
        "\ufe0f",
        "\U000e0101",
        "\u200d",
        "\u2065",
    ],
)
def test_what_is_invisible_outside_a_sequence_that_needs_it_is_named(char: str) -> None:
    assert [piece.text for piece in pieces(f"pay{char}now")] == ["pay", f"U+{ord(char):04X}", "now"]


def test_every_link_is_found_once_without_the_punctuation_around_it() -> None:
    text = (
        "See https://example.org/a, (https://example.org/b). Again: https://example.org/a! "
        "[the docs](https://docs.example/x) and [example.org](https://evil.example/y), www.example.net/z"
    )

    found = {target.url: target for target in targets(text)}

    assert list(found) == [
        "https://docs.example/x",
        "https://evil.example/y",
        "https://example.org/a",
        "https://example.org/b",
        "www.example.net/z",
    ]
    assert found["https://docs.example/x"].says == "the docs"
    assert found["https://evil.example/y"].oddity == "says example.org, leads to evil.example"


@pytest.mark.parametrize(
    ("url", "odd"),
    [
        ("https://example.org@evil.example/", "leads to evil.example"),
        (r"https://evil.example\@paypal.com", "leads to evil.example"),
        (r"https:\\evil.example\@paypal.com/x", "leads to evil.example"),
        ("https://xn--pple-43d.com/", "may look like another"),
        ("https://аpple.com/", "may look like another"),
        ("https://[::1/", "cannot be read"),
    ],
)
def test_an_address_made_to_deceive_says_so(url: str, odd: str) -> None:
    [target] = targets(f"Look at {url}")

    assert odd in target.oddity


@pytest.mark.parametrize(
    "source",
    [
        '<a href="https://evil.example/x"><b>paypal.com</b></a>',
        '<a href="https://evil.example/x">log in at paypal.com now</a>',
        '<a href="https://evil.example/x">pay&#112;al.com</a>',
        '<a href="https://evil.example/x">pay\u200bpal.com</a>',
        '<a title=">" href="https://evil.example/x">paypal.com</a>',
        '<a href="https://evil.example/x">one</a><a href="https://evil.example/x">PayPal.com</a>',
        '<a href="https:/\\evil.example/x">https://paypal.com/login</a>',
        '<a href="//evil.example/x"><img alt="paypal.com" src="cid:1"></a>',
        '<!-- <a title=" --><a href="https://evil.example/x">paypal.com</a>',
        '<!--[if mso]><a href="https://evil.example/x">paypal.com</a><![endif]-->',
    ],
)
def test_a_link_whose_words_name_another_host_says_so(source: str) -> None:
    found = [target for target in html_targets(source) if target.host == "evil.example"]

    assert found, source
    if "mso" not in source:
        assert any("says paypal.com, leads to evil.example" in target.oddity for target in found), found


def test_words_that_name_their_own_host_or_a_file_are_not_odd() -> None:
    for source in (
        '<a href="https://www.example.org/node.js-or.deno">example.org</a>',
        '<a href="https://example.org/a">https://example.org/a/readme.html</a>',
        '<a href="https://example.org/a">the report.pdf</a>',
        '<a href="mailto:ann@example.org">ann@example.org</a>',
    ):
        assert [target.oddity for target in html_targets(source)] == [""], source


def test_a_mail_link_to_another_address_or_with_a_hidden_copy_says_so() -> None:
    source = '<a href="mailto:eve@evil.example?bcc=mallory@evil.example">ann@example.org</a>'
    [target] = html_targets(source)

    assert "says ann@example.org, writes to eve@evil.example" in target.oddity
    assert "also writes to mallory@evil.example (bcc)" in target.oddity


async def test_the_links_of_a_site_post_are_those_of_the_rendered_page(server: Server) -> None:
    body = "Read [**paypal.com**][1] or [this]( https://evil.example/2).\n\n[1]: https://evil.example/1"
    run = await server.stage(post("site", connector="site", body=body))
    page = await server.page(await server.opened(run), run.run_id)

    assert "says paypal.com, leads to evil.example" in page
    assert "https://evil.example/2" in page


def test_no_link_is_dropped_without_a_word() -> None:
    text = " ".join(f"https://h{number}.example/" for number in range(MOST_LINKS + 30))
    found = list_links(targets(f"{text} https://bank.example@evil.example/"))

    assert found.more == 30
    assert "h215.example" in found.hosts
    assert found.shown[-1].host == "evil.example"


def test_the_links_of_html_are_found_whatever_the_quotes() -> None:
    source = (
        "<a href=https://a.example/1>one</a><A HREF='https://b.example/2'>two</A>"
        '<a class="x" href="javascript:alert(1)">three</a><img src="https://c.example/p.png">'
    )

    found = {target.url: target for target in html_targets(source)}

    assert {url: target.says for url, target in found.items()} == {
        "https://a.example/1": "one",
        "https://b.example/2": "two",
        "javascript:alert(1)": "three",
        "https://c.example/p.png": "",
    }
    assert found["javascript:alert(1)"].oddity == "is a javascript: link"


def test_the_words_of_html_are_readable_and_nothing_that_is_hidden_there_is_lost() -> None:
    source = "<style>p{}</style><h1>Hello&nbsp;you</h1><p>One<br>two</p><p style='display:none'>secret</p>"

    text = html_text(source)

    assert "Hello you" in text
    assert "One\ntwo" in text
    assert "secret" in text


@pytest.mark.parametrize(
    "text",
    [
        "<" * 300_000,
        "<a " * 100_000,
        "<a href='" * 60_000,
        "[" * 300_000,
        "[a](" * 100_000,
        "https://" * 60_000,
        "&#" * 150_000,
        "\u200b" * 100_000,
        "x" * 2_000_000,
    ],
)
def test_no_text_makes_reading_it_slow(text: str) -> None:
    started = time.process_time()

    pieces(text), targets(text), html_targets(text), html_text(text)

    assert time.process_time() - started < 5


async def test_a_draft_of_two_megabytes_is_shown_whole_and_one_that_is_typed_is_refused(
    server: Server,
) -> None:
    long = "All work and no play makes a dull page. " * 50_000
    run_id, action_id = await server.store_as_is(post(body=long))
    browser = await server.owner()
    page = await server.page(browser, run_id)
    assert text_of(page) == [long]

    answer = await server.decide(browser, run_id, action_id, "edit", body=long + "!")

    assert answer.status_code == 413
    assert (await server.action(action_id)).revision == 1


async def test_the_longest_text_that_may_be_approved_can_be_edited_whatever_its_characters(
    server: Server,
) -> None:
    run = await server.stage(post("site", title="Long"))
    browser, action_id = await server.opened(run), run.actions[0].id
    longest = "Ünïcode 😀 is fine. " * 6_000
    longest = longest[:99_999] + "."

    saved = await server.decide(browser, run.run_id, action_id, "edit", body=longest)
    too_long = await server.decide(browser, run.run_id, action_id, "edit", body=longest + "x")

    assert saved.status_code == 303
    assert (await server.action(action_id)).effect.body == longest
    assert too_long.status_code == 400
    assert "100,000" in too_long.text or "100000" in too_long.text


async def test_text_that_begins_with_line_breaks_survives_the_way_through_the_form(server: Server) -> None:
    run_id, action_id = await server.store_as_is(
        post(body="\n\n  Indented, after two empty lines.\r\nAnd a line.\n")
    )
    browser = await server.owner()

    unchanged = await server.decide(browser, run_id, action_id, "edit")

    assert unchanged.status_code == 400
    assert "Nothing is different yet" in unchanged.text


@pytest.mark.parametrize(
    ("text", "ends_with"),
    [
        ("A sentence of words, " * 10 + "and more of them.", " A "),
        (("Opening words. " * 13).strip() + "\n\u2022 First point\n\u2022 Second point", "Opening words.\n"),
        ("x" * 400, "x"),
    ],
)
def test_the_fold_of_a_post_leaves_no_bullet_alone(text: str, ends_with: str) -> None:
    seen = text[: find_fold(text, 198)]
    assert seen.endswith(ends_with) and len(seen) <= 198


async def test_the_reason_of_a_risk_counts_the_people_whom_a_mail_reaches(server: Server) -> None:
    run = await server.stage(mail(0), mail(1), mail(12))
    page = await server.page(await server.owner(), run.run_id)

    for said in ("It has no recipients yet.", "It goes to 1 person.", "It goes to 12 people."):
        assert said in page, said
    assert "E-mail without recipients" in page
