"""What arrives is what was approved, or nothing arrives: every connector, on its wire, with texts that are made to be
read as something else.

The judge of each connector reads what really came in, by the rules of that wire and by nothing that composed it, and
names the approved fields that it found there.
"""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from email.utils import getaddresses
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import idna
import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.builders import write_mail
from tests.support.channels.kit import connect as connect_hosted
from tests.support.channels.places import connect as connect_place
from tests.support.connections.kit import HUBSPOT
from tests.support.connections.kit import connect as consent_to
from tests.support.connectors.kit import engine_with
from tests.support.connectors.mail_reader import read_by_hand
from tests.support.connectors.mail_server import Inbox, mail_server
from tests.support.effort import rounds
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock

from assent.app import App
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.records import Effect
from assent.kernel.refusals import Reason
from assent.ports import NotSent
from assent.present.cards import manual_brief
from assent_conform.emulators import bluesky as bluesky_emulator
from assent_conform.emulators.bluesky import Bluesky
from assent_conform.emulators.contacts import HubSpot
from assent_conform.emulators.email import Resend
from assent_conform.emulators.slack import Slack
from assent_conform.emulators.zernio import Zernio
from assent_conform.testing.connector_contract import claim_action, perform_claimed
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import (
    Handler,
    ProviderAnswer,
    ProviderRequest,
    Route,
    all_serving,
)
from assent_launch.channels.contacts import FIELDS
from assent_launch.channels.registry import CONNECTORS
from assent_launch.site import feed as site_feed
from assent_launch.testing import any_effects

# ── texts ────────────────────────────────────────────────────────────────────────────────────────

SEPARATORS = [
    "\r",
    "\n",
    "\r\n",
    "\v",
    "\f",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
    "\x00",
    "\t",
]
ODD = [
    "=?utf-8?q?Lunch=0d=0aBcc=3a_evil=40evil.example=0d=0a=0d=0aother?=",
    "=?utf-8?b?WW91IGFyZSBmaXJlZA==?=",
    "=?ISO-8859-1?Q?a?= =?utf-8?q?_b?=",
    "=?",
    "?=",
    "<!channel>",
    "&amp;",
    "<b>&",
    "\u202e0001\u202c",
    "\u200b",
    "\u200d",
    "\u00ad",
    "\ufeff",
    "(a comment)",
    "Team: ann@example.org, bob@example.org;",
    '"quoted, name"',
    "\\",
    "\\u0000",
    "%0d%0a",
    ".",
    "--=_assent--",
    "From ",
    "https://example.org/a?b=1&c=2",
    "#tag",
    "  ",
    "昼食のお知らせ",
    "👩‍👩‍👧",
    "x" * 80,
]
WORDS = ["Lunch", "on Friday", "Straße", "café", ","]

characters = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=6)
lines = st.lists(st.sampled_from([*ODD, *WORDS]) | characters, min_size=1, max_size=5).map("".join)
bodies = st.lists(
    st.sampled_from([*ODD, *WORDS, *SEPARATORS]) | st.text(max_size=6), min_size=1, max_size=8
).map("".join)
short = lines | bodies


def mostly(good: st.SearchStrategy[str], odd: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """So that most of it goes out: what is refused says nothing about what arrives."""
    return st.integers(0, 9).flatmap(lambda number: odd if number == 9 else good)


# What may stand in a name or a subject whoever writes the mail; encoded words may not everywhere.
PLAIN = [each for each in [*ODD, *WORDS] if not re.search(r'[<>"]|=\?[^?]*\?[bqBQ]', each)]
plain = st.lists(
    st.sampled_from(PLAIN) | characters.map(lambda text: re.sub(r'[<>"]', "", text)), min_size=1, max_size=5
).map("".join)
names = mostly(plain, short) | st.sampled_from([each for each in ODD if not re.search(r'[<>"]', each)])
DOMAINS = ["example.org", "straße.de", "例え.jp"]
OTHERS = ["Bücher.example", "exаmple.org", "βόλος.com", "ex\u200dämple.org", "ｅxample.org", "exämple。org"]
addresses = st.builds("{}@{}".format, st.sampled_from(["ann", "a.b+c", "o'b"]), st.sampled_from(DOMAINS))
odd_addresses = st.builds(
    "{}@{}".format,
    st.sampled_from(["ann", "=?utf-8?q?x?=", "a..b", "ä"]),
    st.sampled_from([*DOMAINS, *OTHERS]),
)
odd_mailboxes = (
    odd_addresses
    | st.builds("{} <{}>".format, short, odd_addresses)
    | st.builds("{} ({})".format, addresses, short)
    | st.builds("{}: {}, {};".format, st.sampled_from(WORDS), addresses, addresses)
    | st.builds("<@relay.example:{}>".format, addresses)
)
mailboxes = mostly(
    addresses
    | st.builds("{} <{}>".format, names, addresses)
    | st.builds('"{}" <{}>'.format, names, addresses),
    odd_mailboxes,
)

mails = st.builds(
    Effect,
    channel=st.just("email"),
    verb=st.just("send"),
    connector=st.just("smtp"),
    body=bodies,
    subject=mostly(plain, short) | mostly(lines, short),
    preheader=st.just("") | lines,
    html=st.just("") | bodies.map("<html><body><p>{}</p></body></html>".format),
    sender=mailboxes,
    recipients=st.lists(mailboxes, min_size=1, max_size=3).map(tuple),
)
posts = st.builds(
    Effect,
    channel=st.just("linkedin"),
    verb=st.just("post"),
    connector=st.just("zernio"),
    body=bodies,
    title=st.just("") | short,
    link=st.just("") | st.just("https://example.org/new"),
)
contacts = st.builds(
    Effect,
    channel=st.just("contacts"),
    verb=st.just("save"),
    connector=st.just("hubspot"),
    body=st.builds(
        "E-mail: ann{}@{}\nCompany: {}\nJob title: {}".format,
        st.integers(0, 10**9),
        st.sampled_from([*DOMAINS, *OTHERS]),
        mostly(lines, short),
        lines,
    ),
)

# ── what came in ─────────────────────────────────────────────────────────────────────────────────


class Listening:
    """A provider that keeps what it was sent, byte for byte."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.heard: list[tuple[str, str, bytes]] = []

    def routes(self) -> tuple[Route, ...]:
        known: tuple[Route, ...] = super().routes()  # type: ignore[misc]
        return tuple(msgspec.structs.replace(each, handler=self._listen(each.handler)) for each in known)

    def _listen(self, handler: Handler) -> Handler:
        def listen(asked: ProviderRequest, *more: str) -> ProviderAnswer:
            self.heard.append((asked.method, asked.path, asked.body))
            return handler(asked, *more)

        return listen

    def sent(self, ending: str) -> list[Any]:
        """The bodies of the calls that have an effect."""
        return [
            msgspec.json.decode(body)
            for method, path, body in self.heard
            if method in ("POST", "PATCH") and path.endswith(ending)
        ]


class HeardZernio(Listening, Zernio): ...


class HeardResend(Listening, Resend): ...


class HeardBluesky(Listening, Bluesky): ...


class HeardSlack(Listening, Slack): ...


class HeardHubSpot(Listening, HubSpot): ...


class Connectors:
    """Every connector, and what stands behind each."""

    def __init__(self, app: App, inbox: Inbox, far: dict[str, Any]) -> None:
        self.app = app
        self.inbox = inbox
        self.far = far
        self.numbers = count(1)
        self.last_id = ""
        self.sent: dict[str, int] = {}

    async def perform(self, effect: Effect) -> bool:
        """Send it; whether it was sent."""
        if effect.connector not in ("smtp", "site", "manual"):
            connector: Any = self.app.owner_services.connectors[effect.connector]
            target = (await connector.addressed(LOCAL_WORKSPACE, effect)).target
            effect = msgspec.structs.replace(effect, target=target)
        action = msgspec.structs.replace(
            claim_action(effect, number=next(self.numbers)), workspace_id=LOCAL_WORKSPACE
        )
        try:
            done = await perform_claimed(self.app.owner_services.connectors[effect.connector], action, 30)
        except NotSent as refused:
            assert refused.reason is not Reason.MISSING_CONNECTOR or effect.connector == "manual", refused
            return False
        self.last_id = done.external_id
        self.sent[effect.connector] = self.sent.get(effect.connector, 0) + 1
        return True


@asynccontextmanager
async def open_connectors(folder: Path) -> AsyncIterator[Connectors]:
    clock, inbox = ManualClock(), Inbox()

    def made(kind: Any, *more: Any) -> Any:
        return kind(Ledger(folder / f"{kind.name}.jsonl"), *more, now_ms=clock.now_ms)

    far = {
        "zernio": made(HeardZernio),
        "resend": made(HeardResend),
        "bluesky": made(HeardBluesky),
        "slack": made(HeardSlack),
        "hubspot": made(HeardHubSpot, HUBSPOT),
    }
    far["resend"].domains = [idna.encode(each).decode() for each in ("example.org", "straße.de", "例え.jp")]
    async with all_serving(tuple(far.values())) as urls, mail_server(inbox) as port:
        given: dict[str, Any] = {
            **{f"{name}_url": urls[name] for name in ("zernio", "resend", "bluesky", "hubspot")},
            "hubspot_client_id": HUBSPOT.client_id,
            "hubspot_client_secret": HUBSPOT.client_secret,
            "smtp_url": f"smtp://127.0.0.1:{port}",
            "smtp_from": "Ann <ann@example.org>",
            "allow_hosts": ("127.0.0.1",),
        }
        url = new_sqlite(folder / "assent.db")
        async with engine_with(url, folder, clock=clock, **given) as engine:
            for name in ("zernio", "resend"):
                await connect_hosted(engine.app, name)
            await connect_place(engine.app, "bluesky", bluesky_emulator.KEY)
            await connect_place(engine.app, "slack", far["slack"].hook)
            await consent_to(engine.app, "hubspot", LOCAL_WORKSPACE)
            yield Connectors(engine.app, inbox, far)


# ── how each wire is read ────────────────────────────────────────────────────────────────────────


def person(mailbox: str) -> tuple[str, str]:
    """A name and an address as a human reads them, the domain in the letters that it is written in."""
    name, bracket, address = mailbox.rpartition("<")
    if not bracket:
        name, address = "", mailbox
    name = name.strip()
    local, _, domain = address.strip().removesuffix(">").rpartition("@")
    quoted = len(name) > 1 and name.startswith('"') and name.endswith('"')
    return (name[1:-1].strip() if quoted else name), f"{local}@{idna.decode(domain.lower())}"


def once(people: list[tuple[str, str]]) -> list[str]:
    return sorted({address for _, address in people})


def words_of(markup: str) -> list[str]:
    return html.unescape(re.sub(r"<[^>]*>", " ", markup)).split()


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same but for how a line ends."""
    return re.sub(r"\r\n|\r", "\n", one) == re.sub(r"\r\n|\r", "\n", other)


def check_html(effect: Effect, sent: str) -> None:
    hidden = re.compile(r'<div style="display:none[^>]*>(.*?)</div>', re.DOTALL)
    if effect.preheader:
        (found,) = hidden.findall(sent)[:1]
        assert html.unescape(found) == effect.preheader
    shown = hidden.sub("", sent, count=1) if effect.preheader else sent
    if effect.html:
        assert same_text(shown, effect.html)
    else:
        assert words_of(shown) == effect.body.split()


async def smtp_arrived(there: Connectors, effect: Effect) -> None:
    there.inbox.taken = there.inbox.taken[-1:]
    (envelope,) = there.inbox.taken
    raw, message = there.inbox.raw(), there.inbox.message()
    assert message.keys() == ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"]
    assert not message.defects
    found = read_by_hand(raw)
    assert list(found) == message.keys()
    assert found["Subject"] == message["Subject"] == effect.subject
    assert person(found["From"]) == person(effect.sender)
    assert person(envelope.mail_from or "")[1] == person(effect.sender)[1]
    people = [person(each) for each in effect.recipients]
    assert sorted(person(each)[1] for each in envelope.rcpt_tos) == once(people)
    several = len(effect.recipients) > 1
    assert found["To"] == "undisclosed-recipients:;" if several else person(found["To"]) == people[0]
    plain, rich = message.iter_parts()
    assert [each.get_content_type() for each in (plain, rich)] == ["text/plain", "text/html"]
    text = plain.get_payload(decode=True)
    assert isinstance(text, bytes) and same_text(text.decode(), effect.body)
    markup = rich.get_payload(decode=True)
    assert isinstance(markup, bytes)
    check_html(effect, markup.decode())


async def resend_arrived(there: Connectors, effect: Effect) -> None:
    sent = there.far["resend"].sent("/emails")[-1]
    assert set(sent) <= {"from", "to", "bcc", "subject", "text", "html", "tags"}
    assert (sent["subject"], sent["text"]) == (effect.subject, effect.body)

    def read(mailbox: str) -> tuple[str, str]:
        ((name, address),) = getaddresses([mailbox])
        assert re.search(r"=\?[^?]*\?[bBqQ]\?", mailbox) is None
        return person(f"{name} <{address}>")

    sender = person(effect.sender)
    assert read(sent["from"]) == sender
    people = [person(each) for each in effect.recipients]
    assert sorted(read(each)[1] for each in sent.get("bcc", sent["to"])) == once(people)
    assert "bcc" not in sent or [read(each) for each in sent["to"]] == [sender]
    assert not re.search(r"=\?[^?]*\?[bBqQ]\?", sent["subject"])
    check_html(effect, sent["html"])


async def zernio_arrived(there: Connectors, effect: Effect) -> None:
    sent = there.far["zernio"].sent("/v1/posts")[-1]
    assert sent["content"] == effect.body and sent.get("title", "") == effect.title
    (platform,) = sent["platforms"]
    assert platform == {"platform": "linkedin", "accountId": "acc_linkedin"}
    assert set(sent) - {"title"} == {"content", "platforms", "publishNow", "metadata"}


async def bluesky_arrived(there: Connectors, effect: Effect) -> None:
    record = there.far["bluesky"].sent("createRecord")[-1]["record"]
    assert record["text"] == effect.body
    for facet in record.get("facets", ()):
        place = facet["index"]
        marked = effect.body.encode()[place["byteStart"] : place["byteEnd"]].decode()
        (feature,) = facet["features"]
        if feature["$type"].endswith("#link"):
            assert feature["uri"] in (marked, f"https://{marked}")
        elif feature["$type"].endswith("#tag"):
            assert marked[1:] == feature["tag"]
    if effect.link and effect.link not in effect.body:
        assert record["embed"]["external"]["uri"] == effect.link
    else:
        assert "embed" not in record


async def slack_arrived(there: Connectors, effect: Effect) -> None:
    sent = there.far["slack"].sent(there.far["slack"].hook.rpartition("/")[2])[-1]
    assert set(sent) == {"text"} and not re.search(r"[<>]|&(?!amp;|lt;|gt;)", sent["text"])
    link = [effect.link] if effect.link and effect.link not in effect.body else []
    said = sent["text"].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert said == "\n\n".join(filter(None, [effect.title, effect.body, *link]))


async def site_arrived(there: Connectors, effect: Effect) -> None:
    post = await there.app.store.read(partial(site_feed.find_post, LOCAL_WORKSPACE, there.last_id))
    assert post is not None
    assert (post.title, post.body, post.link, post.media) == (effect.title, effect.body, effect.link, ())


async def hubspot_arrived(there: Connectors, effect: Effect) -> None:
    sent = there.far["hubspot"].sent("/contacts")[-1]["properties"]
    shown = dict(
        line.split(":", 1) for line in re.split(r"\r\n|\r|\n", effect.body) if line.partition(":")[2].strip()
    )
    read = {FIELDS[label.strip()]: value.strip() for label, value in shown.items()}
    assert sent == {**read, "email": read["email"].lower()}


async def manual_arrived(there: Connectors, effect: Effect) -> None:
    raise AssertionError("nothing is ever sent by hand")


ARRIVED: dict[str, Callable[[Connectors, Effect], Awaitable[None]]] = {
    "smtp": smtp_arrived,
    "resend": resend_arrived,
    "zernio": zernio_arrived,
    "bluesky": bluesky_arrived,
    "slack": slack_arrived,
    "site": site_arrived,
    "hubspot": hubspot_arrived,
    "manual": manual_arrived,
}
KINDS = {"smtp": mails, "resend": mails, "hubspot": contacts}


async def noise(there: Connectors) -> tuple[int, ...]:
    """How much every connector has sent."""
    posts = await there.app.store.read(partial(site_feed.newest_posts, LOCAL_WORKSPACE, 1_000))
    heard = (len(each.ledger.effects()) for each in there.far.values())
    return (len(there.inbox.taken), len(posts), *heard)


def effects(connector: str) -> st.SearchStrategy[Effect]:
    made = KINDS.get(connector, posts)
    channel = connector if connector in ("bluesky", "slack", "site") else None
    return made.map(
        lambda effect: msgspec.structs.replace(effect, connector=connector, channel=channel or effect.channel)
    )


@pytest.mark.prove
@pytest.mark.rule("E64")
async def test_what_arrives_is_what_was_approved_or_nothing_does(tmp_path: Path) -> None:
    """Every connector that has effects, and no other. Each sends something: one that refuses all proves nothing."""
    assert set(ARRIVED) == {each.id for each in CONNECTORS if set(each.does) - {"measure"}}
    async with open_connectors(tmp_path) as there:
        loop = asyncio.get_running_loop()

        async def judge(effect: Effect) -> None:
            before = await noise(there)
            if await there.perform(effect):
                await ARRIVED[effect.connector](there, effect)
            else:
                assert await noise(there) == before
            if effect.connector == "manual":
                view = any_effects().describe(effect, workspace_id=LOCAL_WORKSPACE, base_url="")
                pasted = {field.field: field.text for field in manual_brief(effect, view).fields}
                assert pasted.get("text", "") == effect.body and pasted.get("link", "") == effect.link

        def play(connector: str) -> None:
            easy = msgspec.structs.replace(EASY[connector], connector=connector)

            @settings(
                max_examples=rounds(15, 1_000),
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(effects(connector))
            @example(easy)
            def judged(effect: Effect) -> None:
                asyncio.run_coroutine_threadsafe(judge(effect), loop).result(60)

            judged()

        for connector in ARRIVED:
            await asyncio.to_thread(play, connector)
            assert there.sent.get(connector, 0) > (0 if connector != "manual" else -1), connector


MAIL = write_mail(sender="Ann <ann@example.org>", recipients=("grace@example.org", "Alan <alan@straße.de>"))
POST = Effect(channel="linkedin", verb="post", connector="zernio", body="Lunch on Friday.", title="Lunch")
EASY = {
    **dict.fromkeys(ARRIVED, POST),
    "smtp": MAIL,
    "resend": MAIL,
    **{name: msgspec.structs.replace(POST, channel=name) for name in ("bluesky", "slack", "site")},
    "hubspot": Effect(
        channel="contacts", verb="save", connector="hubspot", body="E-mail: ann@example.org\nCompany: Löwe"
    ),
}
