"""What goes where on each channel that the composer writes for, and what is left out first.

Deliberately unaware of what the sentences say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from assent.drafting.blocks import Block, Claimed, Opened, joined, lighter, present
from assent.drafting.channels import Channel
from assent.drafting.cleaning import cut
from assent.drafting.language import unended
from assent.drafting.writer import Writer

SUBJECT_CHARS: Final = 60
PREHEADER_CHARS: Final = 90
TITLE_CHARS: Final = 70
LINKEDIN_CHARS: Final = 1_300
LINKEDIN_SHORT_CHARS: Final = 700

Layout = Callable[[Channel, Writer, Opened], list[Block]]


def _beginning(write: Writer, opened: Opened) -> list[Block]:
    first, *more = opened.blocks
    return [msgspec.structs.replace(first, text=write.decorated(first.text)), *more]


def _linkedin(row: Channel, write: Writer, opened: Opened) -> list[Block]:
    short = write.voice.short
    bullet = write.phrases.bullet
    blocks = present(
        [
            *_beginning(write, opened),
            write.statements(1 if short else 2, 2),
            write.changes(2 if short else 4, 3, bullet=bullet),
            write.features(3 if short else 4, 4, bullet=bullet),
            write.audience(5),
            write.proof(6),
            write.link(),
            None if short else write.ask(8),
            write.hashtags(row.hashtags_habit, 9),
        ]
    )
    aim = LINKEDIN_SHORT_CHARS if short else LINKEDIN_CHARS
    return next((kept for kept in lighter(blocks) if len(joined(kept)) <= aim), blocks)


def _x(row: Channel, write: Writer, opened: Opened) -> list[Block]:
    """One post where it can be said in one, else a thread of a few."""
    begin = _beginning(write, opened)
    bullet = write.phrases.bullet
    statement = write.statements(1, 2)
    changes = write.changes(3, 3, bullet=bullet)
    features = write.features(3, 4, bullet=bullet)
    link = write.link()
    lists = [block for block in (changes, features) if block is not None and len(block.claims) > 1]
    if write.voice.short or not lists:
        for single in ([*begin, statement, link], [*begin, link]):
            if row.body.count(joined(present(single))) <= row.body.most:
                return present(single)
    return present([*begin, statement, changes, features, write.proof(5), link])


def _email(row: Channel, write: Writer, opened: Opened) -> list[Block]:
    subject = write.title(SUBJECT_CHARS)
    short, name = write.voice.short, write.material.name
    blocks = present(
        [
            subject,
            write.greeting(),
            *opened.blocks,
            write.statements(1 if short else 2, 2),
            write.changes(5, 3, bullet="- "),
            write.features(3 if short else 5, 4, bullet="- "),
            write.audience(5),
            write.proof(6),
            write.link(),
            write.ask(8),
            Block("signature", name) if name else None,
        ]
    )
    return present([_preheader(blocks, subject, write.material.name_fact), *blocks])


def _preheader(blocks: list[Block], subject: Block, name: int | None) -> Block | None:
    """The first statement that the subject does not make already."""
    told = {fact for each in subject.claims for fact in each.facts} - {name}
    for each in (each for block in blocks if block.kind != "title" for each in block.claims):
        if not told & set(each.facts):
            text = cut(each.text, PREHEADER_CHARS)
            return Block("preheader", text, (Claimed(text, each.facts),))
    return None


def _site(row: Channel, write: Writer, opened: Opened) -> list[Block]:
    phrases, title, short = write.phrases, write.title(TITLE_CHARS), write.voice.short
    statement = write.statements(1 if short else 3, 2)
    first = unended(opened.blocks[0].text).casefold()
    # The title stands above the page; a page that says more need not begin by saying it again.
    repeats = first == title.text.casefold() and statement is not None
    return present(
        [
            title,
            *(opened.blocks[1:] if repeats else opened.blocks),
            statement,
            _under(phrases.section_changes, write.changes(4 if short else 8, 3, bullet="- ")),
            _under(phrases.section_features, write.features(3 if short else 8, 4, bullet="- ")),
            write.audience(5),
            write.proof(6),
            write.link(),
        ]
    )


def _landing(row: Channel, write: Writer, opened: Opened) -> list[Block]:
    """Headline, the line below it, three reasons, one thing to do."""
    found = write.headline(TITLE_CHARS)
    if found is None:
        return list(opened.blocks)
    saying, title = found
    write.written = {saying.text}
    sentence = write.lines.sentence(saying.text)
    whole = Block("statement", sentence, (Claimed(sentence, (saying.fact,)),))
    label, url = write.phrases.link_label, write.material.url
    link = f"[{label}]({url})" if label and url else url
    return present(
        [
            title,
            Block("headline", f"# {title.text}", title.claims),
            None if sentence.startswith(title.text.rstrip("…")) and not title.text.endswith("…") else whole,
            write.statements(1, 6),
            write.audience(5),
            _under("", write.features(3, 3, bullet="- ") or write.changes(3, 3, bullet="- ")),
            write.proof(4),
            Block("link", link) if link else None,
        ]
    )


def _under(heading: str, block: Block | None) -> Block | None:
    """A list under a heading, or under nothing, instead of its introduction."""
    if block is None or "\n" not in block.text:
        return block
    items = "\n".join(line for line in block.text.splitlines() if line.startswith("- "))
    return msgspec.structs.replace(block, text=f"## {heading}\n\n{items}" if heading else items)


LAYOUTS: Final[dict[str, Layout]] = {
    "linkedin": _linkedin,
    "x": _x,
    "email": _email,
    "site": _site,
    "landing": _landing,
}
