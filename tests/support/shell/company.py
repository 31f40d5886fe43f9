"""The company of the gallery: Harbor & Pine, a coffee roaster, with several weeks of history.

Everything is made by the functions that make it in life: five channels, an effect of its own (a refund), long texts,
two approvers, an unknown outcome, a failure, something scheduled. `past` has the weeks before this one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from tests.support.edits import edit
from tests.support.keys import make_key
from tests.support.oauth.kit import ask_to_sign_in
from tests.support.review.browser import served
from tests.support.review.kit import Provider, Server, mail, post
from tests.support.shell import past, stories

from assent.engine.actions import policies
from assent.engine.actions.staging import PreparedRun
from assent.engine.connections.registry import ManualConnector, register
from assent.engine.core import brands, tenancy
from assent.engine.core.brands import WorkspaceBrand
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people, targets
from assent.engine.people.people import Person, Role
from assent.engine.people.targets import TargetOwner
from assent.gate.connection import Account, ConnectorInfo, NewConnection, OpenedSecrets
from assent.gate.effects import EffectType, EffectTypes, Scene
from assent.gate.gate import Decider
from assent.gate.records import Assurance, Effect
from assent.gate.views import Facts, Field, Preview, Severity, View
from assent.kernel.ids import ActionId
from assent.kernel.limits import HOUR_MS
from assent.ports import Connector, Draft, NotSent, OutcomeUnknown, StagedEffect
from assent.serving.web.settings.workspace import DRAFTS_ONLY
from assent.tools.workspaces import start_signup
from assent_launch.testing import any_effects

NAME: Final = "Harbor & Pine"
OWNER_NAME: Final = "Ingrid Solberg"

BOOKS = """We opened our books.

In August you told us that you would rather see a number than a certificate. 214 of you did. So here is the number: \
what we paid for every lot this year, what it cost to bring it to Bergen, to roast it and to sell it, and what was left.

La Loma, Colombia: 87 kroner a kilo to the farm. The market paid 61.
Worka Sakaro, Ethiopia: 92 kroner to the washing station. The market paid 64.

It is not a story about being good. It is a story about what a cup costs if everybody is paid, and it is why our bag \
is not the cheapest on the shelf.

Read every line of it: https://harborpine.example/books"""

THREAD = (
    "We are publishing what we pay for every lot of coffee. Not a certificate: a number, per kilo, per farm. 1/4",
    "La Loma: 87 kroner a kilo to the farm; the market paid 61. Worka Sakaro: 92; the market paid 64. 2/4",
    "Freight, roasting, rent, wages and the bag: it is all in there, and so is what was left, 4.10 kroner a cup. 3/4",
    "Every line of it, and the invoices behind it: https://harborpine.example/books 4/4",
)

LETTER = """Dear reader,

in August you told us that you would rather see a number than a certificate. 214 of you did. So here is the number.

We list what we paid for every lot, what it cost to bring it to Bergen, and what was left.

See the books: https://harborpine.example/books

Ingrid, Harbor & Pine"""

LETTER_HTML = (
    '<div style="max-width:560px;font-family:Georgia,serif;font-size:17px;line-height:1.6">'
    '<h1 style="color:#7a3b12;font-size:30px">We opened our books</h1><p>Dear reader,</p>'
    "<p>in August you told us that you would rather see a number than a certificate. <b>214 of you did.</b> "
    "So here is the number.</p><p>We list what we paid for every lot, what it cost to bring it to Bergen, and what "
    'was left.</p><p style="margin:28px 0"><a href="https://harborpine.example/books" '
    'style="background:#7a3b12;color:#ffffff;padding:12px 20px;text-decoration:none">See the books</a></p>'
    "<p>Ingrid, Harbor &amp; Pine</p></div>"
)

POLICY = {
    "preset": "relay",
    "rule": [
        {"name": "E-mail", "when": {"channel": "email"}, "ask": {"assurance": "person", "approvers": 2}},
        {"name": "High risk", "when": {"risk": "high"}, "ask": {"assurance": "person", "approvers": 1}},
    ],
}
"""As Settings › Policy writes it."""

FARM = (
    "Dear Luz,\n\nthe first lot of La Loma was gone in nine days, so we ask for a second one: twelve sacks if you have "
    "them, at the price of the first. We would pay half of it now and the rest when it is on the ship.\n\n"
    "Ingrid, Harbor & Pine"
)
REVIEWS = (
    "You asked why the October bags were lighter. They were not: the label was wrong, and we have sent everyone the "
    "difference, 12 grams of Worka Sakaro. Thank you for weighing."
)

NOTES = (
    (
        "Tasting notes: Ethiopia Worka Sakaro",
        "Jasmine, lime and black tea. Washed, 1,950 metres, picked in December.",
    ),
    (
        "Tasting notes: Colombia La Loma",
        "Red apple, panela and cocoa. Our espresso since 2021, from one family.",
    ),
    (
        "Tasting notes: Kenya Gathaithi",
        "Blackcurrant and grapefruit, loud and clean. Best as a filter coffee.",
    ),
    (
        "Opening hours in November",
        "We close at four on weekdays, and the tasting room opens again on the first.",
    ),
)


def _describe_refund(view: View, effect: Effect, scene: Scene) -> View:
    given = effect.arguments
    return msgspec.structs.replace(
        view,
        title=f"Refund {given['amount']} NOK to {given['customer']}",
        sentence=f"Pays {given['amount']} NOK back to {given['customer']} for order {given['order']}.",
        destination="To Stripe",
        why="Money that was paid back cannot be called back.",
        preview=Preview("arguments"),
        blocks=(
            Facts((("Paid", "1,248.00 NOK on 4 September"), ("Arrived", "Damaged; photos in the ticket"))),
        ),
    )


REFUND: Final = EffectType(
    channel="billing",
    verb="refund",
    label="Stripe",
    noun="Refund",
    common_noun=True,
    via=("bank",),
    risk=Severity.HIGH,
    describe=_describe_refund,
    fields=lambda effect: tuple(
        Field(name=f"arguments.{name}", label=name.capitalize()) for name in effect.arguments
    ),
    schema=lambda effect: {
        "properties": {name: {"type": "string"} for name in ("customer", "amount", "order", "reason")}
    },
)


def list_effects() -> EffectTypes:
    """The types of the gallery: any effect, and the refund of the company."""
    bank = ConnectorInfo("bank", "Stripe", "", "none", ("billing",), ("publish",))
    return any_effects().extend((REFUND,), (bank,), {"chieflab-launch": "Launch", "launch": "Launch"})


def refund(customer: str, amount: str, order: str, reason: str) -> StagedEffect:
    given = {"customer": customer, "amount": amount, "order": order, "reason": reason}
    body = "\n".join(f"{name}: {value}" for name, value in given.items())
    effect = Effect(channel="billing", verb="refund", connector="bank", body=body, arguments=given)
    return StagedEffect(effect=effect, executor_tool="chieflab_execute_approved_action")


@asynccontextmanager
async def opened_company(directory: Path) -> AsyncIterator[tuple[Server, dict[str, str]]]:
    """The company's server and the places of `seed`. Zernio, mail and Stripe are providers that send nothing; the other
    connectors are the real ones."""
    connectors: dict[str, Connector] = {}
    async with served(directory, effects=list_effects(), connectors=connectors) as server:
        own = (
            connector for process in server.app.processes.values() for connector in process.make_connectors()
        )
        connectors |= register((ManualConnector(), *own))
        connectors |= {name: Provider(name) for name in ("zernio", "smtp", "bank")}
        yield server, await seed(server)


async def seed(server: Server) -> dict[str, str]:
    """Several weeks of the company. Returns the places of the pictures."""
    await server.app.prepare()
    now_ms = server.clock.now_ms()
    brand = WorkspaceBrand(LOCAL_WORKSPACE, NAME, "#7a3b12")
    await server.app.store.write(lambda: brands.save(brand, now_ms, by=OWNER_NAME))
    await server.owner(name=OWNER_NAME)
    await _people(server)
    await _connect(server)
    lesson = await stories.remember(
        server, "Give the number first, then the reason; no exclamation marks.", "brand_voice"
    )
    await stories.remember(server, "214 readers asked for prices instead of certificates.", "proof")
    await stories.remember(server, "the best coffee in Bergen", "claim_risk")
    await stories.remember(server, "The roastery opened in 2014, in a former boathouse.", "repo_fact")
    await stories.remember(server, "Say the price in the first line.", "lesson")
    await stories.remember(
        server,
        "1,400 people joined the list in one month, most of them after a tasting.",
        "proof",
        state="proposed",
    )
    measured = await past.live_through(server, lesson)
    session = await stories.review(server)
    await stories.second_run(server, session.session_id)
    server.clock.advance(hours=5)
    await stories.second_run(server, "SHOP-88")
    await _keys(server)
    server.clock.advance(hours=22)
    await stories.launch(
        server,
        "Ask the farm for a second lot",
        mail(1, subject="A second lot", body=FARM, sender=past.SENDER),
    )
    server.clock.advance(hours=20)
    await stories.launch(server, "Answer the reviews of October", post("x", body=REVIEWS))
    server.clock.advance(hours=6)
    failed = await _failed(server)
    server.clock.advance(hours=20)
    unknown = await _unknown(server)
    today = await server.stage(
        post(body="The roaster is warm again, and La Loma is back: 240 bags, one week, then it is gone.")
    )
    await stories.sent(server, today)
    server.clock.advance(hours=1)
    await server.stage(*(post("site", connector="site", title=title, body=body) for title, body in NOTES))
    server.clock.advance(seconds=1_500)
    refunded = await stories.launch(
        server,
        "Settle order 10482",
        refund(
            "Kari Nordmann", "1,248.00", "10482", "The grinder arrived with a broken burr; she sent photos."
        ),
    )
    server.clock.advance(seconds=720)
    run = await _open_books(server, lesson)
    saturday = server.clock.now_ms() + 40 * HOUR_MS
    planned = await server.stage(
        post("bluesky", body="Saturday at ten: cupping with Worka Sakaro, eight seats.", schedule_ms=saturday)
    )
    await server.decide(await server.owner(), planned.run_id, planned.actions[0].id, "approve")
    ways = server.services.notifiers
    everyone = TargetOwner(LOCAL_WORKSPACE)
    mine = targets.of_person(people.OWNER)
    await targets.add(server.services, mine, ways["email"], "ingrid@harborpine.example", by=OWNER_NAME)
    await targets.add(server.services, everyone, ways["ntfy"], "https://ntfy.example/7f3a", by=OWNER_NAME)
    await server.app.store.write(lambda: policies.save(LOCAL_WORKSPACE, POLICY, now_ms, by=OWNER_NAME))
    server.clock.advance(seconds=180)
    feed = (await server.browser().get(f"/feed/{LOCAL_WORKSPACE}/feed.json")).json()
    claim = await start_signup(server.services, "kari@example.org", "Kari Roastery", "203.0.113.9")
    return {
        "claim": claim.removeprefix(server.base_url),
        "let_in": (await ask_to_sign_in(server, "Claude Code")).removeprefix(server.base_url),
        "run": run.run_id,
        "action": run.actions[1].id,
        "mail": run.actions[0].id,
        "sent": today.actions[0].id,
        "failed": failed.run_id,
        "refund": refunded.run_id,
        "unknown": unknown.run_id,
        "measured": measured.run_id,
        "session": session.run_id,
        "lesson": lesson,
        "workspace": LOCAL_WORKSPACE,
        "post": feed["items"][0]["url"].removeprefix(server.base_url),
        "review_link": run.review_url.removeprefix(server.base_url),
    }


async def _keys(server: Server) -> None:
    """The agents of the company."""
    for label, scopes in (("Claude on Ingrid’s laptop", tenancy.SCOPES), ("Shop assistant", DRAFTS_ONLY)):
        await make_key(server.app, by=OWNER_NAME, label=label, scopes=scopes)


async def _connect(server: Server) -> None:
    """The accounts that the company has connected."""
    pages = tuple(
        Account(id=f"{platform}-1", platform=platform, name=name)
        for platform, name in (
            ("linkedin", "Harbor & Pine AS"),
            ("x", "@harborpine"),
            ("bluesky", "harborpine.example"),
        )
    )
    made = NewConnection(label=NAME, accounts=pages, secrets=OpenedSecrets({"key": "none"}))
    await server.app.connections.save(LOCAL_WORKSPACE, "zernio", made, by=OWNER_NAME)
    sender = NewConnection(label="ingrid@harborpine.example", secrets=OpenedSecrets({"password": "none"}))
    await server.app.connections.save(LOCAL_WORKSPACE, "smtp", sender, by=OWNER_NAME)


async def _people(server: Server) -> None:
    now_ms = server.clock.now_ms()
    for name, email in (
        ("Tomasz Nowak", "tomasz@harborpine.example"),
        ("Amina Diallo", "amina@harborpine.example"),
    ):
        person = Person(server.services.new_id(now_ms), name, Role.MEMBER, email)
        entropy = server.services.entropy(people.ENTROPY_BYTES)
        await server.app.store.write(
            lambda person=person, entropy=entropy: members.invite(  # type: ignore[misc]
                person, (LOCAL_WORKSPACE,), entropy, now_ms, by=OWNER_NAME
            )
        )


async def _failing(server: Server, run: PreparedRun, error: Exception) -> None:
    provider = server.services.connectors["zernio"]
    assert isinstance(provider, Provider)
    works = provider.then

    def fail(action: object) -> Any:
        raise error

    provider.then = fail
    await stories.sent(server, run)
    provider.then = works


async def _failed(server: Server) -> PreparedRun:
    run = await stories.launch(
        server,
        "Find a barista for the winter",
        post(
            body="We look for a barista for the winter: thirty hours, Sundays free, and all the coffee you like."
        ),
    )
    expired = NotSent("LinkedIn rejected it: the connection has expired.")
    await _failing(server, run, expired)
    return run


async def _unknown(server: Server) -> PreparedRun:
    run = await stories.launch(
        server,
        "Sell the last bags of La Loma",
        post(body="La Loma is back: 240 bags, one week, roasted on Monday and Thursday."),
    )
    await _failing(server, run, OutcomeUnknown("the connection broke after the text was handed over"))
    return run


async def _open_books(server: Server, lesson: str) -> PreparedRun:
    used = {"memoryUsed": [{"entryId": lesson, "kind": "brand_voice", "how": "put the number first"}]}
    drafts = (
        Draft(type="post", title="LinkedIn", body=BOOKS, channel="linkedin", metadata=used),
        Draft(type="post", title="X", body="\n\n".join(THREAD), channel="x"),
    )
    soon = server.clock.now_ms() + 17 * HOUR_MS
    run = await stories.launch(
        server,
        "Publish our open books",
        mail(
            214,
            subject="We opened our books",
            body=LETTER,
            html=LETTER_HTML,
            sender="Ingrid <ingrid@harborpine.example>",
        ),
        post(
            body=BOOKS,
            draft=0,
            target={"name": "Harbor & Pine AS", "account": "harborpine"},
            warnings=("The number “87 kroner” is not on your product page yet.",),
        ),
        post("x", body="\n\n".join(THREAD), draft=1, details={"thread": list(THREAD)}, expires_ms=soon),
        post("bluesky", body=THREAD[0].removesuffix(" 1/4") + " https://harborpine.example/books"),
        drafts=drafts,
    )
    colleague = Decider(LOCAL_WORKSPACE, "Tomasz Nowak", Assurance.PERSON, "review page", "tomasz")
    text = BOOKS.replace("It is not a story about being good.", "This is not a story about being good.")
    await edit(server.app.owner_services, colleague, ActionId(run.actions[1].id), {"body": text})
    return run
