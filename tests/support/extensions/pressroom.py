"""A channel as a stranger adds it: a picture, a schedule, limits, OAuth, read-back, a preview of its own.

It imports `assent` and the standard library. The second connector needs no connection, the third a key.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

import assent

URL = os.environ["PRESSROOM_URL"]

news = assent.Operator("acme-news", label="Newsroom", function="Publishes press releases once approved.")


def count_words(text: str) -> int:
    if "uncountable" in text:
        raise ZeroDivisionError
    return len(text.split())


post = news.channel(
    assent.EffectType(
        "pressroom",
        "post",
        description="Publish a press release. USE WHEN the user wants to tell the press.",
        via=("pressroom", "pressdesk"),
        shape=assent.Message(
            body=assent.Limit(60, count=count_words, unit="words"),
            title=assent.Limit(80, least=1),
            picture=True,
            link=True,
        ),
        label="Pressroom",
        noun="Press release",
        risk="medium",
        look_at=f"{URL}/releases",
        by_hand="https://pressroom.example/new, signed in as the editor",
        advice=("Choose the desk first.",),
    )
)


@post.describe
def _describe(effect: assent.Effect) -> Any:
    if effect.title == "Describe fails":
        raise KeyError("title")
    lead = effect.body.split(".")[0]
    return assent.View(
        title=f"Press release “{effect.title}”",
        blocks=(
            assent.Facts((("Desk", "Business"), ("Pictures", str(len(effect.media))))),
            assent.Text("On the front page", f"{effect.title.upper()}\n{lead} …"),
        ),
    )


@post.check
def _check(body: str) -> None:
    if "embargo" in body.lower():
        raise assent.Problem("body", "a text that may appear at once", "a text under embargo")
    if body == "Rumour.":
        raise assent.Problem("body", "a text with a source")


@post.normalise
def _normalise(body: str, **_: Any) -> dict[str, str]:
    return {"body": body.strip()}


@news.connector
class Pressroom(assent.Connector):
    id, label, delivery = "pressroom", "Pressroom", assent.read_back()
    description = "Publishes press releases in your pressroom, and counts who reads them."
    asks = "Publishing releases and reading their numbers."
    oauth = assent.OAuth(
        authorize_url=f"{URL}/authorize",
        token_url=f"{URL}/token",
        scopes=("releases",),
    )

    async def verify(self, ctx: assent.ConnectionContext) -> assent.Account:
        answer = await ctx.http.request("GET", f"{URL}/api/me", token=ctx.connection.token)
        answer.raise_for_status()
        me = answer.json()
        return assent.Account(me["id"], me["name"])

    async def perform(self, ctx: assent.Context, effect: assent.Effect) -> assent.Receipt:
        token, pictures = ctx.connection.token, []
        for picture in ctx.pictures:
            kind = {"content-type": picture.content_type, "x-alt": quote(picture.alt)}
            sent = await ctx.http.request(
                "POST",
                f"{URL}/api/pictures",
                content=picture.content,
                headers=kind,
                token=token,
                has_effect=False,
            )
            sent.raise_for_status()
            pictures.append(sent.json()["id"])
        release = {
            "title": effect.title,
            "text": effect.body,
            "link": effect.link,
            "pictures": pictures,
            "reference": ctx.key,
        }
        answer = await ctx.http.request("POST", f"{URL}/api/releases", json=release, token=token)
        answer.raise_for_status()
        return self.read(answer.json())

    async def look_up(self, ctx: assent.Context, effect: assent.Effect) -> assent.Receipt | None:
        where = f"{URL}/api/releases?reference={quote(ctx.key)}"
        answer = await ctx.http.request("GET", where, token=ctx.connection.token)
        if answer.status == 404:
            return None
        answer.raise_for_status()
        return self.read(answer.json())

    async def measure(
        self, ctx: assent.ConnectionContext, effect: assent.Effect, receipt: assent.Receipt
    ) -> dict[str, int]:
        where = f"{URL}/api/releases/{receipt.id}/numbers"
        numbers: dict[str, int] = (await ctx.http.request("GET", where, token=ctx.connection.token)).json()
        return numbers

    def read(self, release: dict[str, Any]) -> assent.Receipt:
        return assent.Receipt(release["id"], url=release["url"], output={"desk": release["desk"]})


DESK: list[str] = []
"""What the press desk was told, which needs no connection."""


@news.connector
class Pressdesk(assent.Connector):
    id, label, delivery = "pressdesk", "Press desk", assent.no_key()
    key = assent.Key("On the first page of the contract.", "Six digits.")

    def perform(self, ctx: assent.Context, effect: assent.Effect) -> assent.Receipt:
        if ctx.connection.token != "123456":
            raise assent.NotConnected("the desk does not know this number")
        DESK.append(effect.body)
        return assent.Receipt(f"desk-{len(DESK)}")


note = news.channel(
    assent.EffectType(
        "pressroom",
        "note",
        description="Leave a note to the press. USE WHEN the user wants a note.",
        via=("board",),
        shape=assent.Message(body=assent.Limit(40)),
        risk="low",
        schedulable=False,
    )
)


@news.connector
class Board(assent.Connector):
    id = "board"

    def perform(self, ctx: assent.Context, effect: assent.Effect) -> assent.Receipt:
        return assent.Receipt("pinned", output={"text": effect.body, "key": ctx.key})
