"""The channel: an entry is prepared by an agent, approved by a person, and written into the table once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import assent
from assent.sdk import Component, How, Place

BOOK: Final = Component(
    "guestbook",
    prefix="guestbook_",
    folder=Path(__file__).parent,
    personal=(
        Place(
            "guestbook_entries",
            "workspace_id entry_id",
            "guest words",
            "entry of the guest book",
            how=How.DELETE,
        ),
    ),
)

acme = assent.Operator("acme", label="Acme", function="Signs the guest book once approved.", component=BOOK)

entry = acme.channel(
    assent.EffectType(
        "guestbook",
        "entry",
        description="Sign the guest book. The title is the guest's name. USE WHEN the user wants to leave a note.",
        via=("guestbook",),
        shape=assent.Message(title=assent.Limit(60, least=1), body=assent.Limit(280, least=1)),
        label="Guest book",
        noun="Guest book entry",
        done="Signed",
        risk="low",
        without=("recipients", "amount"),
    )
)


@entry.describe
def describe(title: str) -> assent.View:
    return assent.View(title=f"{title} signs the guest book")


@acme.connector
class Book(assent.Connector):
    id = "guestbook"
    label = "Guest book"
    description = "Writes into the guest book of this server."
    delivery = assent.natural_key()

    async def perform(self, ctx: assent.Context, effect: assent.Effect) -> assent.Receipt:
        signed = BOOK.statements.insert_entry(
            workspace_id=ctx.workspace_id,
            entry_id=ctx.key,
            guest=effect.title,
            words=effect.body,
            signed_ms=time.time_ns() // 1_000_000,
        )
        await ctx.store.write(signed)
        return assent.Receipt(ctx.key)
