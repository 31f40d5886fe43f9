"""`assent workspace webhook-secret`, `webhook-hosts`, `webhooks` and `webhook-resend`: the signing
secret, the allowed hosts, and the log of deliveries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assent.cli.failures import Failure
from assent.cli.session import CommandSession, command
from assent.cli.workspaces import BY, use_workspace
from assent.engine.core.tenancy import Workspace
from assent.engine.webhooks import hosts as webhook_hosts
from assent.engine.webhooks import webhooks
from assent.engine.webhooks.webhooks import DeliveryRecord, Resent, Try
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MAX_PAGE
from assent.kernel.times import iso_time
from assent.ports import Transaction

if TYPE_CHECKING:
    from assent.app import App

WhichWorkspace = Annotated[
    str, typer.Argument(metavar="ID-OR-NAME", help="Which workspace.", show_default=False)
]


def secret(
    session: CommandSession,
    workspace: WhichWorkspace,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Make a new one first; the old one signs nothing from then on.")
    ] = False,
) -> None:
    """Print the secret that signs a workspace's webhook deliveries."""

    async def read(app: App, found: Workspace) -> dict[str, str]:
        text = await webhooks.signing_secret(app.services, found.workspace_id, rotate=rotate)
        return {"workspaceId": found.workspace_id, "secret": text}

    view = use_workspace(session, workspace, read)
    session.give(view, view["secret"])


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
    from assent.outgoing_calls import webhook_host

    if bool(host) + lift + close > 1:
        raise Failure("Name hosts, or say --any, or say --none.")
    for each in host or ():
        if webhook_host(f"https://{each}/") != each.lower():
            raise Failure(f"{each!r} is not the name of a host.\nName it alone, such as hooks.example.org.")
    wanted = None if lift else tuple(dict.fromkeys(each.lower() for each in host or ()))

    async def change(app: App, found: Workspace) -> tuple[WorkspaceId, tuple[str, ...] | None]:
        workspace_id, now_ms = found.workspace_id, app.clock.now_ms()
        if host or lift or close:
            await app.store.write(partial(webhook_hosts.limit, workspace_id, wanted, now_ms, by=BY))
        return workspace_id, await app.store.read(partial(webhook_hosts.find, workspace_id))

    workspace_id, allowed = use_workspace(session, workspace, change)
    text = "any public host" if allowed is None else "\n".join(allowed) or "no host"
    session.give({"workspaceId": workspace_id, "hosts": allowed}, text)


def deliveries(
    session: CommandSession,
    workspace: WhichWorkspace,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MAX_PAGE, help="How many, newest first.")] = 20,
) -> None:
    """List the deliveries to webhooks and the result of each attempt."""

    async def read(app: App, found: Workspace) -> list[tuple[DeliveryRecord, tuple[Try, ...]]]:
        return await app.store.read(partial(_log, found.workspace_id, limit))

    found = use_workspace(session, workspace, read)
    rows = [
        (
            each.delivery_id,
            each.type,
            each.state,
            str(len(tries)),
            tries[-1].detail if tries else "",
            iso_time(each.next_try_ms) or "",
            webhooks.mask_url(each.url),
        )
        for each, tries in found
    ]
    columns = ("delivery", "type", "state", "tries", "last try", "next try", "address")
    session.give({"deliveries": [_describe(*each) for each in found]}, session.table(columns, rows))


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

    async def again(app: App, found: Workspace) -> tuple[WorkspaceId, Resent]:
        now_ms = app.clock.now_ms()
        return found.workspace_id, await app.store.write(
            lambda: webhooks.resend(found.workspace_id, delivery, now_ms, by=BY)
        )

    workspace_id, resent = use_workspace(session, workspace, again)
    if resent == "unknown":
        raise Failure(
            f"There is no delivery {delivery!r} here.\nSee them: assent workspace webhooks {workspace_id}"
        )
    if resent == "waiting":
        raise Failure(
            "This delivery is still being tried.\n"
            f"See when it is tried next: assent workspace webhooks {workspace_id}"
        )
    view = {"workspaceId": workspace_id, "deliveryId": delivery, "resent": True}
    session.give(view, f"Delivery {delivery} is being sent again.")


def register(app: typer.Typer) -> None:
    command(app, "webhook-secret")(secret)
    command(app, "webhook-hosts")(hosts)
    command(app, "webhooks")(deliveries)
    command(app, "webhook-resend")(resend)


def _log(workspace_id: WorkspaceId, most: int) -> Transaction[list[tuple[DeliveryRecord, tuple[Try, ...]]]]:
    log = []
    for each in (yield from webhooks.recent(workspace_id, "", most)):
        log.append((each, (yield from webhooks.tries(workspace_id, each.delivery_id))))
    return log


def _describe(delivery: DeliveryRecord, tries: tuple[Try, ...]) -> dict[str, Any]:
    return {
        "deliveryId": delivery.delivery_id,
        "runId": delivery.run_id,
        "type": delivery.type,
        "url": webhooks.mask_url(delivery.url),
        "state": delivery.state,
        "createdAt": iso_time(delivery.created_ms),
        "nextTryAt": iso_time(delivery.next_try_ms),
        "endedAt": iso_time(delivery.ended_ms),
        "tries": [
            {
                "number": each.number,
                "at": iso_time(each.at_ms),
                "durationMs": each.duration_ms,
                "outcome": each.outcome,
                "status": each.status,
                "detail": each.detail,
            }
            for each in tries
        ],
    }
