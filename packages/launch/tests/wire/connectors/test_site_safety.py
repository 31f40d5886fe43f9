"""Whatever a post holds, its page and its feed run nothing, load nothing and lead nowhere else."""

from __future__ import annotations

import re

import pytest
from tests.support.connectors.site import FEED, Audit, Site, parsed, path_of

from assent.serving.web.shell import markdown

ATTACKS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](vbscript:msgbox(1))",
    "[x](//evil.example)",
    "[x](/claim/steal)",
    '[x](https://ok.example/"onmouseover="alert(1))',
    '<https://ok.example/"><script>alert(1)</script>>',
    'https://ok.example/"onmouseover=alert(1)',
    "![x](https://tracker.example/pixel.gif)",
    "![x](javascript:alert(1))",
    '![<script>alert(1)</script>](https://tracker.example/p.png "onerror=alert(1)")',
    "[![x](https://tracker.example/p.gif)](javascript:alert(1))",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    '``` " onmouseover=alert(1) x="\ncode\n```',
    "| <script>alert(1)</script> | b |\n|---|---|\n| <img src=x onerror=alert(1)> | 2 |",
    '[a]: javascript:alert(1) "x"\n\n[a]',
    "<style>body{background:url(https://tracker.example)}</style>",
    "<form action=https://evil.example><button>x</button></form>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "</div></article><script>alert(1)</script>",
    "{{ 7*7 }} {% raw %}",
    "<!--><script>alert(1)</script>-->",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "\u202e<script>alert(1)</script>",
)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["body", "title", "link"])
async def test_hostile_content_is_inert(site: Site, where: str) -> None:
    for attack in ATTACKS:
        given = {"body": f"Before\n\n{attack}\n\nAfter", "title": "A title", "link": ""}
        given[where] = f"Before\n\n{attack}\n\nAfter" if where == "body" else attack
        post = await site.publish(given["body"], given["title"], given["link"])
        for path in (path_of(post), FEED):
            answer = await site.get(path)
            assert answer.status_code == 200
            audit = Audit()
            audit.feed(answer.text)
            assert audit.findings == [], attack
            leaving = [link for link in audit.links if link.startswith("http") and "chieflab.io" not in link]
            assert leaving == [], attack
        atom = parsed(await site.get(f"{FEED}atom.xml"))
        for content in atom.iter("{http://www.w3.org/2005/Atom}content"):
            audit = Audit()
            audit.feed(content.text or "")
            assert audit.findings == [], attack


async def test_characters_that_xml_cannot_hold_do_not_break_the_feed(site: Site) -> None:
    await site.publish(body="A bell \x07 and a \x0b, and \ufffe.", title="Ding \x08")
    parsed(await site.get(f"{FEED}atom.xml"))


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("# A\n## B\n# C", "h2 h3 h2"),
        ("### A\n#### B\n### C", "h2 h3 h2"),
        ("#### A\n# B\n#### C", "h2 h2 h3"),
        ("# A\n###### B", "h2 h3"),
        ("A\n===\n\nB\n---", "h2 h3"),
    ],
)
def test_headings_stand_below_the_title_without_a_gap(text: str, levels: str) -> None:
    assert " ".join(re.findall(r"<(h\d)>", markdown.render(text).html)) == levels


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("See https://a.example/x_(y), https://b.example.", ("https://a.example/x_(y)", "https://b.example")),
        ("(https://a.example/x)", ("https://a.example/x",)),
        ("[a](https://a.example) https://a.example", ("https://a.example",)),
        ("`https://a.example` and ```https://b.example```", ()),
        ("![pic](https://a.example/p.png)", ("https://a.example/p.png",)),
        ("[mail](mailto:ann@example.org) [up](../x) [root](/x) ftp://a.example", ()),
        (f"https://a.example/{'x' * 2000}", ()),
    ],
)
def test_the_links_of_a_text_are_its_web_addresses(text: str, links: tuple[str, ...]) -> None:
    assert markdown.render(text).links == links


def test_a_text_with_more_marks_than_are_worth_the_work_is_shown_as_it_is_written() -> None:
    few = "[a](https://ok.example) " * (markdown.MAX_MARKS // 10)
    many = few + "![" * markdown.MAX_MARKS

    assert markdown.render(few).links == ("https://ok.example",)
    assert markdown.render(many).links == ()
    assert markdown.render(many).html.startswith("<pre>[a](https://ok.example)")
