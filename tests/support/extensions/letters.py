"""A channel of letters to people, as a stranger writes it."""

from __future__ import annotations

import socket

import assent

letters = assent.Operator("acme-letters", label="Letters", function="Sends letters once approved.")
SENT: list[tuple[str, tuple[str, ...]]] = []

letter = letters.channel(
    assent.EffectType(
        "letter",
        "send",
        description="Send a letter. USE WHEN the user wants to write to people.",
        via=("post_office",),
        shape=assent.Message(body=assent.Limit(2_000), subject=assent.Limit(60, least=1), recipients=3),
        done="Sent",
        risk="medium",
    )
)


@letter.check
def _check(subject: str, recipients: tuple[str, ...]) -> None:
    if subject == "ask the network":
        socket.create_connection(("127.0.0.1", 9))
    if "boss@example.org" in recipients:
        raise assent.Problem("recipients", "anyone else", "the boss")


@letters.connector
class PostOffice(assent.Connector):
    id, delivery = "post_office", assent.natural_key()
    key = assent.Key("At the counter.", "A number.")

    def perform(self, ctx: assent.Context, effect: assent.Effect) -> assent.Receipt:
        if ctx.connection.token != "7":
            raise assent.NotConnected
        SENT.append((effect.subject, effect.recipients))
        return assent.Receipt(ctx.key)
