"""All content that an approval covers, the same on the review page and on the batch page.

Pure. Independent of the viewer and of the action's outcome.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape, unescape
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, unquote

import msgspec
from markupsafe import Markup

from assent.engine.views.review import RunReview
from assent.gate.records import IMAGE, Action, Asset, Effect, name_path
from assent.gate.views import Severity
from assent.kernel.canonical import short_digest
from assent.kernel.domains import ascii_domain, ascii_form
from assent.kernel.structs import Record
from assent.kernel.texts import to_text
from assent.present.cards import goes_to, say_who_sees
from assent.present.next_steps import say_due
from assent.present.status_report import describe_test
from assent.serving.web.review import naming
from assent.serving.web.review.blocks import (
    DrawnBlock,
    draw_blocks,
    find_block_texts,
    find_strings,
    list_arguments,
    list_facts,
    write_arguments,
)
from assent.serving.web.review.matching import Steps
from assent.serving.web.shell import markdown
from assent.serving.web.shell.times import When, when
from assent.serving.web.shell.unseen import UnseenPiece, pieces, without_unseen


class ShownPicture(Record):
    """Only variants have an id to select them by."""

    address: str
    alt: str
    width: int
    height: int
    name: str
    title: str
    asset_id: str
    goes_along: bool


class Pictures(Record):
    """`along` is sent. `choices` are all variants, including that one."""

    along: tuple[ShownPicture, ...]
    choices: tuple[ShownPicture, ...]


def of_action(found: RunReview, action: Action) -> Pictures:
    """The attached pictures of an action and their alternatives."""
    sent = {media.digest for media in action.effect.media if media.digest}
    made = [
        (each.channel, _show(action.run_id, each, each.metadata["digest"] in sent))
        for each in list_pictures(found)
    ]
    choices = tuple(view for channel, view in made if channel == action.effect.channel)
    of_run = {view.address: view for _, view in made}
    along = []
    for each in list_attached(action):
        known = of_run.get(each.address)
        if known is None:
            along.append(msgspec.structs.replace(each, name="Picked from another run"))
        else:
            along.append(msgspec.structs.replace(known, alt=each.alt))
    return Pictures(tuple(along), choices)


def list_attached(action: Action) -> tuple[ShownPicture, ...]:
    return tuple(
        ShownPicture(name_path(action.run_id, media.digest), media.alt, 0, 0, "", "", "", True)
        for media in {media.digest: media for media in action.effect.media if media.digest}.values()
    )


def list_unattached(found: RunReview) -> tuple[ShownPicture, ...]:
    """Pictures without a post for their channel."""
    channels = {action.effect.channel for action in found.actions}
    return tuple(
        _show(found.run.run_id, each, False) for each in list_pictures(found) if each.channel not in channels
    )


def list_pictures(found: RunReview) -> list[Asset]:
    """The pictures that a run made, in gallery order."""
    made = [each for each in found.assets if each.type == IMAGE and "digest" in each.metadata]
    return sorted(made, key=lambda each: (each.channel or "", str(each.metadata.get("variant", "~"))))


def _show(run_id: str, asset: Asset, goes_along: bool) -> ShownPicture:
    facts = asset.metadata
    return ShownPicture(
        address=name_path(run_id, facts["digest"]),
        alt=asset.body,
        width=facts.get("width", 0),
        height=facts.get("height", 0),
        name=str(facts.get("variant", "")).capitalize() or asset.title,
        title=asset.title,
        asset_id=asset.asset_id,
        goes_along=goes_along,
    )


# The links of a text, their targets and their anomalies. Pure, in linear time.
#
# URLs are parsed as browsers parse them (the WHATWG URL standard): a backslash is a slash, the name before an @ is
# not the host, tabs and line ends are ignored.

MOST_LINKS: Final = 200
"""Limit of listed links. As many suspicious ones beyond it are listed as well."""

MOST_HOSTS: Final = 50
"""Limit of hosts named for the links beyond the list."""

_URL: Final = re.compile(r"(?:https?:[/\\]{2}|www\.)[^\s<>\"“”„`]+", re.IGNORECASE)
_MARKDOWN_LINK: Final = re.compile(
    r"\[([^\[\]\n]{1,300})\]\(\s?<?([^\s()<>]{1,2000})>?(?:\s[^()\n]{0,200})?\)"
)
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):(?!\d)", re.IGNORECASE)
_WEB: Final = frozenset({"http", "https", "ftp", "ws", "wss"})
_TRAILING: Final = ".,;:!?)]}'’*_"
_EDGES: Final = "".join(map(chr, range(33)))
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")
_NUMBER: Final = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_QUAD: Final = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_WORD: Final = re.compile(r"[\w.-]+")
_MAILBOX: Final = re.compile(r"(?<![^\s<>(),;:\"@])[^\s<>(),;:\"@]++@[^\s<>(),;:\"@]+")
_FILES: Final = re.compile(
    "asp|css|csv|docx?|exe|gif|html?|jpe?g|jsx?|json|pdf|php|png|svg|toml|tsx?|txt|webp|xlsx?|xml|ya?ml"
)
"""File extensions that are not top-level domains."""


class LinkTarget(Record):
    url: str
    host: str
    says: str = ""
    oddity: str = ""


class LinkList(Record):
    """`more`: the number and the hosts of unlisted links."""

    shown: tuple[LinkTarget, ...]
    more: int = 0
    odd_more: int = 0
    hosts: tuple[str, ...] = ()


class _Unreadable(ValueError):  # noqa: N818 - a finding, not a fault
    """No browser could follow the URL."""


def targets(text: str) -> tuple[LinkTarget, ...]:
    """Every link in plain text: URLs, and Markdown link syntax."""
    named = [(match[2], match[1]) for match in _MARKDOWN_LINK.finditer(text)]
    return _unique([*named, *((_bare(url), "") for url in _URL.findall(text))])


def address_targets(urls: Iterable[str]) -> tuple[LinkTarget, ...]:
    """The targets of addresses that are known to be links."""
    return _unique([(url, "") for url in urls])


def html_targets(source: str) -> tuple[LinkTarget, ...]:
    """Every link in an HTML source, and every URL that it loads."""
    return _unique(find_links(source))


def list_links(found: Iterable[LinkTarget]) -> LinkList:
    """The list for a page. Links beyond the limit are counted."""
    every = list(found)
    rest = every[MOST_LINKS:]
    odd = [target for target in rest if target.oddity]
    left = [target for target in rest if not target.oddity] + odd[MOST_LINKS:]
    hosts = dict.fromkeys(target.host for target in left if target.host)
    return LinkList(
        (*every[:MOST_LINKS], *odd[:MOST_LINKS]),
        len(left),
        len(odd[MOST_LINKS:]),
        tuple(hosts)[:MOST_HOSTS],
    )


def _bare(url: str) -> str:
    """Strip the punctuation of the surrounding sentence."""
    return url.rstrip(_TRAILING) if "(" not in url else url.rstrip(_TRAILING.replace(")", ""))


def _unique(found: list[tuple[str, str]]) -> tuple[LinkTarget, ...]:
    """One target per URL and text. A URL without text is dropped if it is already listed."""
    seen: dict[tuple[str, str], LinkTarget] = {}
    urls: set[str] = set()
    for url, says in found:
        said = "" if says == url else says
        if not url or (url, said) in seen or (not said and url in urls):
            continue
        urls.add(url)
        seen[url, said] = _target(url, says)
    return tuple(seen.values())


def _target(url: str, says: str) -> LinkTarget:
    clean = url.strip(_EDGES).replace("\t", "").replace("\n", "").replace("\r", "")
    named = _SCHEME.match(clean)
    scheme = named[1].lower() if named is not None else "http"
    rest = clean[named.end() :] if named is not None else clean
    if scheme == "mailto":
        return _mail_target(url, says, rest)
    if scheme not in _WEB:
        return LinkTarget(url, "", says, f"is a {scheme}: link")
    try:
        host, user = _host(rest)
    except _Unreadable:
        return LinkTarget(url, "", says, "cannot be read as an address")
    odd = []
    if user:
        odd.append(f"leads to {host}, not to the name before the @")
    if "\\" in rest:
        odd.append(f"leads to {host}, because a browser reads \\ as /")
    if "xn--" in host:
        odd.append("its name may look like another")
    if _NUMBER.fullmatch(host.rpartition(".")[2]) and not _QUAD.fullmatch(host):
        odd.append("leads to an IP address in an unusual notation")
    odd += [
        f"says {claimed}, leads to {host}"
        for claimed in _claims(says)
        if _bare_host(claimed) != _bare_host(host)
    ]
    return LinkTarget(url, host, "" if says == url else says, "; ".join(odd))


def _host(rest: str) -> tuple[str, bool]:
    """The host that a browser would contact, in ASCII, and whether user info precedes it."""
    authority = re.split(r"[/\\?#]", rest.lstrip("/\\"), maxsplit=1)[0]
    _, at, place = authority.rpartition("@")
    if place.startswith("["):
        host, closing, port = place.partition("]")
        host += closing
        if not closing:
            raise _Unreadable
        port = port.removeprefix(":")
    else:
        host, _, port = place.partition(":")
        host = _ascii(unquote(host))
    if not host or (port and not (port.isascii() and port.isdigit())):
        raise _Unreadable
    return host, bool(at)


def _ascii(host: str) -> str:
    plain = unicodedata.normalize("NFKC", without_unseen(host)).replace("。", ".").lower()
    if _FORBIDDEN.search(plain):
        raise _Unreadable
    try:
        return ascii_domain(plain)
    except ValueError:
        raise _Unreadable from None


def _bare_host(host: str) -> str:
    return host.rstrip(".").removeprefix("www.")


def _claims(says: str) -> list[str]:
    """The distinct hosts named in a link's text."""
    found: dict[str, None] = {}
    for word in unicodedata.normalize("NFKC", without_unseen(says)).replace("。", ".").split():
        _, scheme, rest = word.rpartition("://")
        parts = re.split(r"[/\\?#]", rest.lstrip("/\\"))
        first = list(_hosts_in(parts[0].rpartition("@")[2] if scheme else parts[0]))
        for host in first or _hosts_in(" ".join(parts)):
            found.setdefault(host)
    return list(found)


def _hosts_in(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        labels = match[0].strip(".-_").lower().split(".")
        last = labels[-1]
        if len(labels) < 2 or not all(labels) or _FILES.fullmatch(last):
            continue
        if (len(last) > 1 and last.isalpha()) or last.startswith("xn--"):
            try:
                yield ascii_domain(".".join(labels))
            except ValueError:
                yield ".".join(labels)


def _mail_target(url: str, says: str, rest: str) -> LinkTarget:
    """The target of a mailto link: its recipients, including copies."""
    path, _, query = rest.partition("?")
    to = _mailboxes(unquote(path))
    others: list[str] = []
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name.lower() == "to":
            to += _mailboxes(value)
        elif name.lower() in ("cc", "bcc"):
            others += [f"{mailbox} ({name.lower()})" for mailbox in _mailboxes(value)]
    whom = ", ".join(to) or "no one"
    domains = {_bare_host(domain) for mailbox in to for domain in _hosts_in(mailbox.rpartition("@")[2])}
    named = [mailbox.strip(".").lower() for mailbox in _MAILBOX.findall(without_unseen(says))]
    odd = [f"says {mailbox}, writes to {whom}" for mailbox in named if mailbox not in to]
    if not named:
        odd += [f"says {host}, writes to {whom}" for host in _claims(says) if _bare_host(host) not in domains]
    if others:
        odd.append(f"also writes to {', '.join(others)}")
    return LinkTarget(url, ", ".join(sorted(domains)), says, "; ".join(odd))


def _mailboxes(text: str) -> list[str]:
    return [part.strip().lower() for part in re.split(r"[,;]", text) if part.strip()]


# The recipients of an action: all of them, with lookalike domains marked. Pure.

SUMMED_UP: Final = 50
"""Above this number of recipients the page also counts their domains."""


class Addressee(Record):
    """One address, and the ASCII form of its domain if that differs."""

    text: str
    ascii_domain: str = ""
    readable: bool = True


class Recipients(Record):
    people: tuple[Addressee, ...]
    domains: tuple[tuple[str, int], ...]
    """Recipients per domain, rarest first. Only for long lists."""


def addressee(mailbox: str) -> Addressee:
    """Parse a mailbox, with or without a name."""
    domain = _domain(mailbox)
    if domain.isascii():
        return Addressee(mailbox)
    found = ascii_form(mailbox)
    return Addressee(mailbox, found or "", readable=found is not None)


def list_recipients(mailboxes: tuple[str, ...]) -> Recipients:
    people = tuple(addressee(mailbox) for mailbox in mailboxes)
    if len(people) <= SUMMED_UP:
        return Recipients(people, ())
    counted = Counter(each.ascii_domain or _domain(each.text).lower() for each in people)
    return Recipients(people, tuple(sorted(counted.items(), key=lambda item: (item[1], item[0]))))


def _domain(mailbox: str) -> str:
    return mailbox.rpartition("@")[2].strip(" >")


class HtmlPart(Record):
    """The HTML of an e-mail: its text, links and source. `sheet`: it has a style sheet, which the
    frame does not render."""

    text: tuple[UnseenPiece, ...]
    targets: LinkList
    source: tuple[UnseenPiece, ...]
    sheet: bool


class ReviewContent(Record, kw_only=True):
    """What would be sent, and when."""

    action: Action
    noun: str
    """The kind of action, within a sentence."""
    is_mail: bool
    sender: Addressee | None
    reply_to: Addressee | None
    recipients: Recipients
    cc: Recipients
    privacy: str
    """Whether those whom it reaches see each other."""
    preview: DrawnPreview
    size: str
    pictures: tuple[ShownPicture, ...]
    blocks: tuple[DrawnBlock, ...]
    targets: LinkList
    html: HtmlPart | None
    html_address: str
    extras: tuple[tuple[str, str], ...]
    schedule: When | None
    due: str
    """The same time in the zone in which it was given."""
    short_digest: str
    unfolded: bool
    """At high risk nothing is hidden behind a click."""


def build_content(
    action: Action,
    now_ms: int,
    pictures: tuple[ShownPicture, ...] | None = None,
    steps: Steps | None = None,
) -> ReviewContent:
    """The content of one action. `pictures`: the details of its pictures. `steps` bounds the
    differences of a whole page."""
    effect, view = action.effect, action.view
    preview = build_preview(action, html=True)
    return ReviewContent(
        action=action,
        noun=view.noun[:1].lower() + view.noun[1:] if view.common_noun else view.noun,
        is_mail=view.mail or bool(effect.recipients or effect.subject),
        sender=addressee(effect.sender) if effect.sender else None,
        reply_to=addressee(effect.reply_to) if effect.reply_to else None,
        recipients=list_recipients(effect.recipients),
        cc=list_recipients(effect.cc),
        privacy=say_who_sees(action),
        preview=preview,
        size=_measure_size(action),
        pictures=list_attached(action) if pictures is None else pictures,
        blocks=draw_blocks(view.blocks, steps),
        targets=list_links(_targets(action, preview)),
        html=_html(effect.html),
        html_address=f"/runs/{action.run_id}/actions/{action.action_id}/html",
        extras=_extras(action),
        schedule=when(action.schedule_ms, now_ms),
        due=say_due(action) if action.schedule_ms is not None else "",
        short_digest=short_digest(action.digest),
        unfolded=action.preflight.severity is Severity.HIGH,
    )


def _measure_size(action: Action) -> str:
    if action.view.in_blocks:
        return naming.size("\n".join(find_block_texts(action.view.blocks)))
    if action.view.preview.kind != "arguments":
        return naming.size(action.effect.body)
    count = len(list_arguments(action))
    return f"{count} argument{'' if count == 1 else 's'}"


def _targets(action: Action, preview: DrawnPreview) -> tuple[LinkTarget, ...]:
    """Return the targets of the links that readers will see, and of those in arguments and blocks."""
    effect, view = action.effect, action.view
    texts = [*find_strings(effect.arguments), *find_block_texts(view.blocks)]
    beside = (*targets("\n".join(texts)), *address_targets(view.links))
    alone = targets(effect.link)
    if preview.page is not None:
        return _distinct(*alone, *html_targets(preview.page), *beside)
    return _distinct(*alone, *targets(effect.body), *beside)


def _distinct(*found: LinkTarget) -> tuple[LinkTarget, ...]:
    return tuple(dict.fromkeys(found))


def as_text(value: Any) -> str:
    """A value as words or JSON."""
    return "" if value is None else to_text(value)


def _html(source: str) -> HtmlPart | None:
    if not source:
        return None
    found = list_links(html_targets(source))
    return HtmlPart(pieces(html_text(source)), found, pieces(source), has_style_sheet(source))


def _extras(action: Action) -> tuple[tuple[str, str], ...]:
    """All other fields that an approval covers, but for values among the facts above. Those of a call that
    an agent runs are its title, its risk and its blocks; a view may also show everything in its blocks."""
    effect = action.effect
    facts = [("Test", said)] if (said := describe_test(action)) else []
    facts += [("Link", effect.link)] if effect.link else []
    if (account := goes_to(effect.target)) is not None:
        facts.append(("Goes to", account))
    else:
        facts += [(f"Target: {name}", value) for name, value in (effect.target or {}).items()]
    facts += [
        (media.kind.capitalize(), f"{media.url} ({media.alt or 'no description'})")
        for media in effect.media
        if not media.digest
    ]
    shown_above = action.view.in_blocks or (action.view.executes == "agent" and bool(effect.arguments))
    details = {} if shown_above else effect.details
    above = {text for _, text in list_facts(action.view.blocks)}
    hidden = {*above, ""}
    facts += [
        _detail(name, value, effect)
        for name, value in details.items()
        if name not in action.view.technical and as_text(value) not in hidden
    ]
    return tuple(facts)


def _detail(name: str, value: Any, effect: Effect) -> tuple[str, str]:
    """The posts of a thread are shown above and not repeated."""
    if name == "thread" and isinstance(value, list) and "\n\n".join(map(str, value)) == effect.body:
        return ("As a thread", f"{len(value)} posts, divided where the numbers stand")
    return (name, as_text(value))


# Renders the HTML part of an e-mail for a sandboxed frame.
#
# The source is sanitized first: no scripts, no forms, no URLs to follow or load, and only styles that cannot load
# anything. It is then isolated twice: the frame has an empty `sandbox`, and the response has its own policy with
# `sandbox`. The page around the frame shows the removed parts as text, as a list of links and as source.

_TAG: Final = re.compile(r"<[^<>]*>")
_BLOCK: Final = re.compile(
    r"</?(?:p|div|br|tr|li|ul|ol|table|h[1-6]|blockquote|section)\b[^<>]*>", re.IGNORECASE
)
_TAGS: Final = """a abbr b blockquote br center code div em font h1 h2 h3 h4 h5 h6 hr i img li ol p pre s small span
strong sub sup table tbody td tfoot th thead tr u ul"""
ATTRIBUTES: Final = {
    "*": {"style", "align", "dir", "lang", "title"},
    "td": {"colspan", "rowspan", "valign", "width", "bgcolor"},
    "th": {"colspan", "rowspan", "valign", "width", "bgcolor", "scope"},
    "table": {"width", "bgcolor", "cellpadding", "cellspacing", "border"},
    "font": {"color", "size", "face"},
    "img": {"alt", "width", "height"},
}
_STYLES: Final = """color background background-color font-family font-size font-style font-weight line-height
letter-spacing text-align text-decoration text-transform vertical-align padding padding-top padding-right padding-bottom
padding-left
margin margin-top margin-right margin-bottom margin-left border border-top border-right border-bottom border-left
border-radius border-collapse width max-width height display"""

_ADDRESS: Final = re.compile(r"url\([^)]*\)?", re.IGNORECASE)
_LOADS: Final = re.compile(r"\\|url|image|element\(|cross-fade|src\(", re.IGNORECASE)

_FRAME: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The HTML part</title>'
    "<style>body{{margin:16px;font:16px/1.5 sans-serif;color:#111;background:#fff;overflow-wrap:anywhere}}"
    "img{{display:inline-block;min-width:16px;min-height:16px;border:1px dashed #999}}</style></head>"
    "<body>{body}</body></html>"
)


def frame(source: str) -> str:
    body = _clean(source)
    if style := _page_style(source):
        around, _, end = _clean(f'<div style="{escape(style)}"> </div>').partition(" </div>")
        body = f"{around}{body}</div>" if end == "" else body
    return _FRAME.format(body=body)


def has_style_sheet(source: str) -> bool:
    """Mail programs may apply a style sheet; the frame does not."""
    return any(
        (tag.name == "style" and tag.attributes.get("style", "").strip())
        or (tag.name == "link" and "stylesheet" in tag.attributes.get("rel", "").lower())
        for tag in parse_tags(source)
    )


def _page_style(source: str) -> str:
    """The style of the body, with legacy colour attributes."""
    for tag in parse_tags(source):
        if tag.name == "body" and not tag.closes:
            given = tag.attributes
            old = (("background-color", given.get("bgcolor")), ("color", given.get("text")))
            return ";".join([*(f"{name}:{value}" for name, value in old if value), given.get("style", "")])
    return ""


def _clean(source: str) -> str:
    import nh3

    return nh3.clean(
        source,
        tags=set(_TAGS.split()),
        attributes=ATTRIBUTES,
        filter_style_properties=set(_STYLES.split()),
        attribute_filter=_without_loads,
        url_schemes=set(),
        link_rel=None,
        strip_comments=True,
    )


def _without_loads(tag: str, name: str, value: str) -> str:
    """Remove the declarations of a style that could load something."""
    if name != "style":
        return value
    return ";".join(each for each in _ADDRESS.sub(" ", value).split(";") if not _LOADS.search(each))


def html_text(source: str) -> str:
    """All text, also what a mail program would hide. Takes linear time."""
    text = unescape(_TAG.sub("", _BLOCK.sub("\n", source)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


# Previews content as its channel shows it: a card with its fold, a thread with counts, an e-mail, a
# page, the arguments of a function.
#
# A preview is complete: text that a channel hides behind "see more" follows the fold mark. Pure.


class PreviewPart(Record):
    """One post: the text before the fold and after it."""

    shown: tuple[UnseenPiece, ...]
    more: tuple[UnseenPiece, ...]
    size: str
    fits: bool


class DrawnPreview(Record):
    kind: Literal["text", "post", "thread", "mail", "page", "arguments"]
    channel: str
    account: str
    initial: str
    parts: tuple[PreviewPart, ...]
    page: Markup | None = None
    arguments: tuple[DrawnBlock, ...] | None = ()
    """None if the blocks of the view show everything."""


def build_preview(action: Action, html: bool) -> DrawnPreview:
    effect, view = action.effect, action.view
    account = _account(effect)
    texts = read_thread(effect) if view.preview.kind == "thread" else (effect.body,)
    # Sanitized: only the tags, attributes and schemes that text needs.
    page = Markup(markdown.render(effect.body).html) if view.preview.kind == "page" and html else None  # noqa: S704
    arguments = draw_blocks(write_arguments(action)) if view.preview.kind == "arguments" else ()
    return DrawnPreview(
        kind=view.preview.kind if texts else "text",
        channel=view.label,
        account=account,
        initial=account[:1].upper(),
        parts=_draw_parts(action, texts or (effect.body,)),
        page=page,
        arguments=None if view.in_blocks else arguments,
    )


def read_thread(effect: Effect) -> tuple[str, ...]:
    """The posts of a thread; none if they no longer add up to the body."""
    parts = effect.details.get("thread")
    if isinstance(parts, list) and len(parts) > 1 and "\n\n".join(map(str, parts)) == effect.body:
        return tuple(map(str, parts))
    return ()


def _account(effect: Effect) -> str:
    target = effect.target or {}
    return target.get("name") or target.get("account") or effect.sender or "You"


def _draw_parts(action: Action, texts: tuple[str, ...]) -> tuple[PreviewPart, ...]:
    """Draw each text with its size as the channel counts, if the view knows it."""
    view = action.view
    body = next((field for field in view.fields if field.name == "body"), None)
    if body is None or body.most is None or len(view.preview.sizes) != len(texts):
        return tuple(PreviewPart(pieces(text), (), naming.size(text), True) for text in texts)
    return tuple(
        _draw_part(text, used, view.preview.fold, body.most, body.unit)
        for text, used in zip(texts, view.preview.sizes, strict=True)
    )


def _draw_part(text: str, used: int, fold: int | None, most: int, unit: str) -> PreviewPart:
    size = f"{used:,} of {most:,} {unit}"
    if fold is None or used <= fold:
        return PreviewPart(pieces(text), (), size, used <= most)
    at = find_fold(text, fold)
    return PreviewPart(pieces(text[:at]), pieces(text[at:]), size, used <= most)


def find_fold(text: str, fold: int) -> int:
    """The end of the last whole word before the fold. A line of which only a bullet or dash would be seen is
    folded as a whole."""
    space = max(text.rfind(" ", 0, fold), text.rfind("\n", 0, fold))
    at = space + 1 if space > fold // 2 else fold
    line = text.rfind("\n", 0, at) + 1
    return at if any(each.isalnum() for each in text[line:at]) or not line else line


# Extracts the URLs of an HTML source with their link texts, tokenizing as browsers do. Pure, in
# linear time.
#
# Lists everything that a mail program might follow or load: attributes of any tag, URLs in styles,
# and the content of comments, which some programs show.

_NAME: Final = re.compile(r"/?([a-zA-Z][^\s/>]*)")
_ATTRIBUTE: Final = re.compile(r"[\s/]*(=?[^\s/>=]+|=)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]*)))?")
_END: Final = re.compile(r"[\s/]*>")
_RAW_END: Final = re.compile(r"</(script|style|title|textarea|xmp|noscript|iframe)\b", re.IGNORECASE)
_RAW: Final = frozenset({"script", "style", "title", "textarea", "xmp", "noscript", "iframe"})
_LEADING: Final = frozenset(
    {"href", "src", "srcset", "action", "formaction", "background", "poster", "data", "xlink:href"}
)
_STYLE_URL: Final = re.compile(r"url\(\s*[\"']?([^\"')]{1,2000})", re.IGNORECASE)
_REFRESH: Final = re.compile(r"url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)


class Tag(Record):
    name: str
    closes: bool
    attributes: dict[str, str]


def find_links(source: str) -> list[tuple[str, str]]:
    """Every URL with its link text, which a loaded URL lacks."""
    found: list[tuple[str, str]] = []
    url: str | None = None
    words: list[str] = []

    def close() -> None:
        nonlocal url
        if url is not None:
            found.append((url, " ".join("".join(words).split())))
        url = None
        words.clear()

    for part in _parts(source):
        if isinstance(part, str):
            words.append(html.unescape(part))
        elif part.name in ("a", "area"):
            close()
            url = None if part.closes else part.attributes.get("href")
            if part.name == "area":
                words.append(part.attributes.get("alt", ""))
                close()
        if isinstance(part, Tag):
            words.append(part.attributes.get("alt", "") if part.name == "img" else "")
            found += ((each, "") for each in _loads(part))
    close()
    return [(url, words) for url, words in found if url.strip() and not url.startswith("#")]


def parse_tags(source: str) -> Iterator[Tag]:
    """Every tag in order. A style sheet becomes its `style` attribute."""
    return (part for part in _parts(source) if isinstance(part, Tag))


def _loads(tag: Tag) -> Iterator[str]:
    """The URLs of a tag other than its link target."""
    for name, value in tag.attributes.items():
        if name == "href" and tag.name in ("a", "area"):
            continue
        if name == "srcset":
            yield from (part.split()[0] for part in value.split(",") if part.strip())
        elif name in _LEADING:
            yield value
        elif name == "style":
            yield from _STYLE_URL.findall(value)
        elif name == "content" and tag.name == "meta":
            yield from _REFRESH.findall(value)


def _parts(source: str, *, inner: bool = False) -> Iterator[str | Tag]:
    """Text and tags in order. Comments and raw text (`inner`) do not nest."""
    at = 0
    while (start := source.find("<", at)) >= 0:
        yield source[at:start]
        if source.startswith("<!--", start):
            end = -1 if inner else source.find("-->", start + 4)
            if inner:
                at = start + 4
                continue
            yield from _tags_only(source[start + 4 : end if end >= 0 else len(source)])
            at = end + 3 if end >= 0 else len(source)
            continue
        named = _NAME.match(source, start + 1)
        if named is None:
            yield "<"
            at = start + 1
            continue
        name, closes = named[1].lower(), source[start + 1] == "/"
        attributes, at = _attributes(source, named.end())
        if at < 0:
            return
        yield Tag(name, closes, attributes)
        if name in _RAW and not closes and not inner:
            raw_end = _RAW_END.search(source, at)
            raw = source[at : raw_end.start() if raw_end is not None else len(source)]
            if name == "style":
                yield Tag("style", False, {"style": raw})
            elif name != "script":
                yield from _tags_only(raw)
            at += len(raw)
    yield source[at:]


def _tags_only(source: str) -> Iterator[Tag]:
    """The tags inside a comment or raw text."""
    for part in _parts(source, inner=True):
        if isinstance(part, Tag):
            yield part


def _attributes(source: str, at: int) -> tuple[dict[str, str], int]:
    """Return a tag's attributes and its end; -1 if it does not end."""
    found: dict[str, str] = {}
    while True:
        end = _END.match(source, at)
        if end is not None:
            return found, end.end()
        match = _ATTRIBUTE.match(source, at)
        if match is None:
            return found, -1
        value = next((part for part in match.groups()[1:] if part is not None), "")
        found.setdefault(match[1].lower(), html.unescape(value))
        at = match.end()
