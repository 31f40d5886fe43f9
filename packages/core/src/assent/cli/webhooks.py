"""`assent workspace webhook-…` and `webhooks`: the signing secret, the allowed hosts, the addresses that
get events, and the log of deliveries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from assent.cli.session import CommandSession, Failure
from assent.cli.workspaces import BY, WhichWorkspace, use_workspace
from assent.engine.core.tenancy import Workspace
from assent.engine.webhooks import subscriptions, webhooks
from assent.engine.webhooks.subscriptions import Subscription, UnfitSubscription
from assent.engine.webhooks.webhooks import DeliveryRecord, Resent, Try
from assent.gate.webhooks import EVENTS, State, mask_url
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MAX_PAGE
from assent.kernel.times import iso_time
from assent.ports import Transaction

if TYPE_CHECKING:
    from assent.app import App


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
            await app.store.write(partial(subscriptions.limit_hosts, workspace_id, wanted, now_ms, by=BY))
        return workspace_id, await app.store.read(partial(subscriptions.find_hosts, workspace_id))

    workspace_id, allowed = use_workspace(session, workspace, change)
    text = "any public host" if allowed is None else "\n".join(allowed) or "no host"
    session.give({"workspaceId": workspace_id, "hosts": allowed}, text)


def deliveries(
    session: CommandSession,
    workspace: WhichWorkspace,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MAX_PAGE, help="How many, newest first.")] = 20,
    subscription: Annotated[
        str, typer.Option("--subscription", help="Only events for this subscription.", show_default=False)
    ] = "",
    state: Annotated[
        str, typer.Option("--state", help="Only waiting, delivered or failed ones.", show_default=False)
    ] = "",
) -> None:
    """List the deliveries to webhooks and the result of each attempt."""
    if state not in ("", *get_args(State)):
        raise Failure(f"{state!r} is not a state.\nName one of these: {', '.join(get_args(State))}")

    async def read(app: App, found: Workspace) -> list[tuple[DeliveryRecord, tuple[Try, ...]]]:
        return await app.store.read(partial(_log, found.workspace_id, limit, subscription, state))

    found = use_workspace(session, workspace, read)
    rows = [
        (
            each.delivery_id,
            each.type,
            each.state,
            str(len(tries)),
            tries[-1].detail if tries else "",
            iso_time(each.next_try_ms) or "",
            mask_url(each.url),
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
            f"There is no delivery {delivery!r} here.\nSee them: {session.again('workspace', 'webhooks', workspace_id)}"
        )
    if resent == "waiting":
        raise Failure(
            "This delivery is still being tried.\n"
            f"See when it is tried next: {session.again('workspace', 'webhooks', workspace_id)}"
        )
    view = {"workspaceId": workspace_id, "deliveryId": delivery, "resent": True}
    session.give(view, f"Delivery {delivery} is being sent again.")


def list_subscriptions(session: CommandSession, workspace: WhichWorkspace) -> None:
    """List the addresses that get the events of a workspace's actions."""

    async def read(app: App, found: Workspace) -> list[dict[str, Any]]:
        known = await app.store.read(partial(subscriptions.list_all, found.workspace_id))
        return [_describe_subscription(each, app.clock.now_ms()) for each in known]

    found = use_workspace(session, workspace, read)
    rows = [
        (
            each["subscriptionId"],
            each["state"],
            " ".join(each["events"]),
            each["deliveredAt"] or "",
            each["failingSince"] or "",
            each["url"],
        )
        for each in found
    ]
    columns = ("subscription", "state", "events", "last delivery", "failing since", "address")
    session.give({"subscriptions": found}, session.table(columns, rows))


def subscribe(
    session: CommandSession,
    workspace: WhichWorkspace,
    url: Annotated[str, typer.Argument(metavar="URL", help="A public https address.", show_default=False)],
    event: Annotated[
        list[str] | None,
        typer.Option(
            "--event",
            metavar="EVENT",
            help=f"Post this event ({', '.join(EVENTS)}); repeatable.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Post the events of a workspace's actions to an address, all of them unless you name some."""

    async def make(app: App, found: Workspace) -> dict[str, Any]:
        services = app.services.for_workspace(found.workspace_id)
        begin = subscriptions.add(services, found.workspace_id, url, event or EVENTS, by=BY)
        try:
            made = await app.store.write(begin)
        except UnfitSubscription as unfit:
            raise Failure(str(unfit)) from unfit
        return {"workspaceId": found.workspace_id, "subscriptionId": made}

    view = use_workspace(session, workspace, make)
    session.say("Its events are posted there from now on. This is the id of the subscription:")
    session.give(view, view["subscriptionId"])


def unsubscribe(
    session: CommandSession,
    workspace: WhichWorkspace,
    subscription: Annotated[
        str,
        typer.Argument(
            metavar="SUBSCRIPTION",
            help="Its id, from `assent workspace webhook-subscriptions`.",
            show_default=False,
        ),
    ],
) -> None:
    """Post no more events to an address. What waits for it is not sent; its log is kept for 30 days."""

    async def end(app: App, found: Workspace) -> dict[str, Any]:
        workspace_id, now_ms = found.workspace_id, app.clock.now_ms()
        if await app.store.read(partial(subscriptions.find, workspace_id, subscription)) is None:
            raise Failure(
                f"There is no subscription {subscription!r} here.\nSee them: "
                f"{session.again('workspace', 'webhook-subscriptions', workspace_id)}"
            )
        await app.store.write(partial(subscriptions.remove, workspace_id, subscription, now_ms, by=BY))
        return {"workspaceId": workspace_id, "subscriptionId": subscription, "removed": True}

    view = use_workspace(session, workspace, end)
    session.give(view, f"Subscription {subscription} is removed.")


def _describe_subscription(each: Subscription, now_ms: int) -> dict[str, Any]:
    return {
        "subscriptionId": each.subscription_id,
        "url": mask_url(each.url),
        "events": list(each.events),
        "state": "failing" if each.is_failing(now_ms) else "on" if each.enabled else "off",
        "createdBy": each.created_by,
        "createdAt": iso_time(each.created_ms),
        "deliveredAt": iso_time(each.delivered_ms),
        "failingSince": iso_time(each.failing_since_ms),
    }


def _log(
    workspace_id: WorkspaceId, most: int, subscription_id: str, state: str
) -> Transaction[list[tuple[DeliveryRecord, tuple[Try, ...]]]]:
    log = []
    found = yield from webhooks.recent(workspace_id, "", most, subscription_id=subscription_id, state=state)
    for each in found:
        log.append((each, (yield from webhooks.tries(workspace_id, each.delivery_id))))
    return log


def _describe(delivery: DeliveryRecord, tries: tuple[Try, ...]) -> dict[str, Any]:
    return {
        "deliveryId": delivery.delivery_id,
        "runId": delivery.run_id or None,
        "actionId": delivery.action_id or None,
        "subscriptionId": delivery.subscription_id or None,
        "type": delivery.type,
        "url": mask_url(delivery.url),
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
