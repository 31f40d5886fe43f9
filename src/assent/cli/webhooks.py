"""`assent workspace webhook-secret`, `webhook-hosts`, `webhooks` and `webhook-resend`: the signing secret, the allowed
hosts, and the log of deliveries."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated

import msgspec
import typer

from assent.cli.failures import Failure
from assent.cli.session import CommandSession, command, timestamp
from assent.cli.workspaces import BY, find_workspace
from assent.engine.webhooks import hosts as webhook_hosts
from assent.engine.webhooks import webhooks
from assent.engine.webhooks.webhooks import DeliveryRecord, Resent, Try
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MAX_PAGE
from assent.ports import Transaction

WhichWorkspace = Annotated[
    str, typer.Argument(metavar="ID-OR-NAME", help="Which workspace.", show_default=False)
]


class SecretView(msgspec.Struct, frozen=True, rename="camel"):
    workspace_id: str
    secret: str


class TryView(msgspec.Struct, frozen=True, rename="camel"):
    number: int
    at: str | None
    duration_ms: int
    outcome: str
    status: int | None
    detail: str


class DeliveryView(msgspec.Struct, frozen=True, rename="camel"):
    delivery_id: str
    run_id: str
    type: str
    url: str
    state: str
    created_at: str | None
    next_try_at: str | None
    ended_at: str | None
    tries: tuple[TryView, ...]


class ResentView(msgspec.Struct, frozen=True, rename="camel"):
    workspace_id: str
    delivery_id: str
    resent: bool


def secret(
    session: CommandSession,
    workspace: WhichWorkspace,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Make a new one first; the old one signs nothing from then on.")
    ] = False,
) -> None:
    """Print the secret that signs a workspace's webhook deliveries."""
    from assent.app import open_app

    async def read() -> SecretView:
        async with open_app(session.settings) as app:
            found = await find_workspace(app.store, workspace)
            text = await webhooks.signing_secret(app.services, found.workspace_id, rotate=rotate)
            return SecretView(found.workspace_id, text)

    view = asyncio.run(read())
    session.give(view, view.secret)


class HostsView(msgspec.Struct, frozen=True, rename="camel"):
    """The JSON answer of `webhook-hosts`. Without a list any public host is allowed."""

    workspace_id: str
    hosts: tuple[str, ...] | None


def hosts(
    session: CommandSession,
    workspace: WhichWorkspace,
    host: Annotated[
        list[str] | None,
        typer.Argument(metavar="[HOST]...", help="Allow these hosts and no others.", show_default=False),
    ] = None,
    lift: Annotated[bool, typer.Option("--any", help="Allow any public host again.")] = False,
    close: Annotated[bool, typer.Option("--none", help="Allow no host at all.")] = False,
) -> None:
    """Show or limit the hosts that a workspace's results may be posted to."""
    from assent.app import open_app
    from assent.outgoing_calls import webhook_host

    if bool(host) + lift + close > 1:
        raise Failure("Name hosts, or say --any, or say --none.")
    for each in host or ():
        if webhook_host(f"https://{each}/") != each.lower():
            raise Failure(f"{each!r} is not the name of a host.\nName it alone, such as hooks.example.org.")
    wanted = None if lift else tuple(dict.fromkeys(each.lower() for each in host or ()))

    async def change() -> HostsView:
        async with open_app(session.settings) as app:
            found = await find_workspace(app.store, workspace)
            workspace_id, now_ms = found.workspace_id, app.clock.now_ms()
            if host or lift or close:
                await app.store.write(partial(webhook_hosts.limit, workspace_id, wanted, now_ms, by=BY))
            return HostsView(workspace_id, await app.store.read(partial(webhook_hosts.find, workspace_id)))

    view = asyncio.run(change())
    session.give(view, "any public host" if view.hosts is None else "\n".join(view.hosts) or "no host")


def deliveries(
    session: CommandSession,
    workspace: WhichWorkspace,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MAX_PAGE, help="How many, newest first.")] = 20,
) -> None:
    """List what was posted to webhooks and what became of every try."""
    from assent.app import open_app

    async def read() -> list[DeliveryView]:
        async with open_app(session.settings) as app:
            found = await find_workspace(app.store, workspace)
            return await app.store.read(partial(_log, found.workspace_id, limit))

    views = asyncio.run(read())
    rows = [
        (
            each.delivery_id,
            each.type,
            each.state,
            str(len(each.tries)),
            each.tries[-1].detail if each.tries else "",
            each.next_try_at or "",
            each.url,
        )
        for each in views
    ]
    columns = ("delivery", "type", "state", "tries", "last try", "next try", "address")
    session.give({"deliveries": views}, session.table(columns, rows))


def resend(
    session: CommandSession,
    workspace: WhichWorkspace,
    delivery: Annotated[
        str,
        typer.Argument(
            metavar="DELIVERY", help="Its id, from `assent workspace webhooks`.", show_default=False
        ),
    ],
) -> None:
    """Post a delivery again, under the same webhook-id. A running server sends it."""
    from assent.app import open_app

    async def again() -> tuple[WorkspaceId, Resent]:
        async with open_app(session.settings) as app:
            found = await find_workspace(app.store, workspace)
            now_ms = app.clock.now_ms()
            return found.workspace_id, await app.store.write(
                lambda: webhooks.resend(found.workspace_id, delivery, now_ms, by=BY)
            )

    workspace_id, resent = asyncio.run(again())
    if resent == "unknown":
        raise Failure(
            f"There is no delivery {delivery!r} here.\nSee them: assent workspace webhooks {workspace_id}"
        )
    if resent == "waiting":
        raise Failure(
            "This delivery is still being tried.\n"
            f"See when it is tried next: assent workspace webhooks {workspace_id}"
        )
    session.give(ResentView(workspace_id, delivery, True), f"Delivery {delivery} is on its way again.")


def register(app: typer.Typer) -> None:
    command(app, "webhook-secret")(secret)
    command(app, "webhook-hosts")(hosts)
    command(app, "webhooks")(deliveries)
    command(app, "webhook-resend")(resend)


def _log(workspace_id: WorkspaceId, most: int) -> Transaction[list[DeliveryView]]:
    found = yield from webhooks.recent(workspace_id, "", most)
    views = []
    for each in found:
        lines = yield from webhooks.tries(workspace_id, each.delivery_id)
        views.append(_view(each, lines))
    return views


def _view(delivery: DeliveryRecord, lines: tuple[Try, ...]) -> DeliveryView:
    return DeliveryView(
        delivery_id=delivery.delivery_id,
        run_id=delivery.run_id,
        type=delivery.type,
        url=webhooks.mask_url(delivery.url),
        state=delivery.state,
        created_at=timestamp(delivery.created_ms),
        next_try_at=timestamp(delivery.next_try_ms),
        ended_at=timestamp(delivery.ended_ms),
        tries=tuple(
            TryView(
                line.number, timestamp(line.at_ms), line.duration_ms, line.outcome, line.status, line.detail
            )
            for line in lines
        ),
    )
