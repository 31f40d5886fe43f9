"""Everything that an approval covers is on the page that asks for it: on the review page and where several are decided
together."""

from __future__ import annotations

import html
import re
from typing import Any

import msgspec
from packages.core.tests.wire.review.test_inbox import batch
from tests.support.edits import edit
from tests.support.review.kit import Server, form, mail, post

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import Decider
from assent.gate.records import Assurance, Effect, Media
from assent.kernel.ids import ActionId
from assent.serving.web.review.card import compare_fields
from assent_launch.testing import any_effects

PICTURE = Media(
    kind="image", url="http://127.0.0.1/p.png", alt="ACME goes bankrupt", digest="sha256:" + "a1" * 32
)


async def edit_as_agent(server: Server, action_id: str, **changes: Any) -> None:
    decider = Decider(LOCAL_WORKSPACE, "key:0011223344556677", Assurance.AGENT, "chat")
    await edit(server.app.owner_services, decider, ActionId(action_id), changes)


async def test_what_is_decided_together_is_shown_with_its_picture_link_target_and_details(
    server: Server,
) -> None:
    run = await server.stage(
        post("site", connector="site", title="One", body="The first note."),
        post(
            "site",
            connector="site",
            title="Two",
            body="The second, with a [word](https://evil.example/x).",
            link="https://example.org/launch",
            target={"section": "press"},
            details={"visibility": "public"},
            sender="Mallory",
        ),
    )
    first, second = (action.id for action in run.actions)
    await edit_as_agent(server, first, media=(PICTURE,))

    page = (await batch(server, await server.owner(), "approve", first, second)).text

    assert f'src="/runs/{run.run_id}/pictures/{"a1" * 32}.png"' in page
    for fact in (
        "ACME goes bankrupt",
        "https://evil.example/x",
        "https://example.org/launch",
        "press",
        "visibility",
        "public",
        "Mallory",
    ):
        assert fact in page, fact


async def test_the_call_of_a_workflow_is_shown_where_several_steps_are_decided_together(
    server: Server,
) -> None:
    call = {"tool": "chieflab_refund", "args": {"amount": 900}}
    details = {"call": call, "node": 3}
    step = post("workflow", verb="confirm", connector="workflow", title="Ship it", details=details)
    run = await server.stage(step)
    member = await server.owner()

    page = (await batch(server, member, "approve", run.actions[0].id)).text

    assert "chieflab_refund" in page and "900" in page
    graph = f'href="/sessions/{run.run_id}?node=3#step"'
    assert graph in await server.page(member, run.run_id)
    assert graph in (await member.get(f"/inbox/pane/{run.actions[0].id}")).text
    assert graph not in await server.page(await server.opened(run), run.run_id)


async def test_what_has_an_html_part_is_decided_alone(server: Server) -> None:
    plain, rich = post("site", connector="site"), post("site", connector="site", html="<p>Something else</p>")
    run = await server.stage(plain, rich)
    owner = await server.owner()

    assert f"pick-{run.actions[1].id}" not in (await owner.get("/inbox")).text
    assert (await batch(server, owner, "approve", *(action.id for action in run.actions))).status_code == 400


CHANGED: dict[str, Any] = {
    "channel": "x",
    "verb": "send",
    "connector": "manual",
    "body": "Another text.",
    "title": "Another title",
    "subject": "Another subject",
    "preheader": "Another preview",
    "html": "<p>Another HTML</p>",
    "recipients": ("eve@evil.example",),
    "cc": ("mal@evil.example",),
    "visible": True,
    "reply_to": "eve@evil.example",
    "sender": "Mallory <m@evil.example>",
    "target": {"account": "other-account"},
    "media": (PICTURE,),
    "link": "https://evil.example/link",
    "details": {"visibility": "other-visibility"},
    "schedule_offset": "+01:00",
    "arguments": {"amount": "5"},
}


def test_every_field_of_an_effect_that_changed_is_listed() -> None:
    old = Effect(channel="linkedin", verb="post", connector="zernio", body="A text.")
    words = {
        "channel": "X",
        "connector": "By hand",
        "recipients": "eve@evil.example",
        "cc": "mal@evil.example",
        "visible": "yes",
        "target": "other-account",
        "media": "ACME goes bankrupt",
        "details": "other-visibility",
        "arguments": "5",
    }
    for name in Effect.__struct_fields__:
        value = CHANGED.get(name, 1_793_000_000_000)
        [change] = compare_fields(any_effects(), old, msgspec.structs.replace(old, **{name: value}), 0)
        said = "".join(piece.text for piece in change.pieces if piece.change != "removed")
        assert words.get(name, CHANGED.get(name, "2026")) in said, name


async def test_a_picture_that_was_attached_after_a_look_is_said_to_have_changed(server: Server) -> None:
    run = await server.stage(post("site", connector="site", title="One", body="The first note."))
    owner = await server.owner()
    await server.page(owner, run.run_id)
    await edit_as_agent(server, run.actions[0].id, media=(PICTURE,))

    page = await server.page(owner, run.run_id)

    [box] = re.findall(
        r'<div class="panel always" data-panel="changes">(.*?)<div class="panel', page, re.DOTALL
    )
    assert "What changed since you last looked" in box
    assert "ACME goes bankrupt" in html.unescape(re.sub(r"<[^>]+>", "", box))
    assert "<ins>" in box
    assert form(page, run.actions[0].id, "approve")


async def test_the_mail_stands_above_its_many_recipients_and_all_of_them_are_named(server: Server) -> None:
    run = await server.stage(mail(60, subject="A letter"))
    page = await server.page(await server.owner(), run.run_id)

    order = [
        page.index(part) for part in ("<dt>To</dt>", 'data-panel="seen"', 'class="crowd"', 'class="decide"')
    ]
    assert order == sorted(order)
    assert [address for address in mail(60).effect.recipients if address not in page] == []


async def test_a_title_that_is_cut_after_a_sentence_has_no_stop_before_its_ellipsis(server: Server) -> None:
    first = "We built Assent: agents do the work, and you say yes first"
    run = await server.stage(post(body=f"{first}.\n\nWhat you approve is what is sent, to the character."))
    assert f"“{first}…”" in html.unescape(await server.page(await server.owner(), run.run_id))
