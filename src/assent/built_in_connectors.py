"""Builds the built-in connectors from the parts of a process.

Separate from the composition root, because their modules load slowly and the first answer needs
none.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from assent.engine.connections.oauth import StoredLocks
from assent.engine.learning import site_feed
from assent.gate.records import Action
from assent.kernel import ids
from assent.kernel.refusals import Reason
from assent.ports import Connector, NotSent
from assent.suite.connectors.bluesky import BlueskyConnector
from assent.suite.connectors.ga4 import Ga4Connector
from assent.suite.connectors.http_outcomes import refusal
from assent.suite.connectors.hubspot import HubSpotConnector
from assent.suite.connectors.mail.resend import ResendConnector
from assent.suite.connectors.mail.smtp import SmtpConnector
from assent.suite.connectors.manual import ManualConnector
from assent.suite.connectors.oauth import OAuthClient, providers
from assent.suite.connectors.oauth_access import OAuthAccess
from assent.suite.connectors.registry import CONNECTORS, register
from assent.suite.connectors.search_console import SearchConsoleConnector
from assent.suite.connectors.site import SiteConnector, SitePage
from assent.suite.connectors.slack import HookResponse, SlackConnector
from assent.suite.connectors.zernio import ZernioConnector

if TYPE_CHECKING:
    from assent.app import App


async def post_to_hook(
    allow_hosts: tuple[str, ...], url: str, body: bytes, timeout_seconds: float
) -> HookResponse:
    """Post a message to a person's webhook. Private addresses need the server's permission."""
    from assent.net.addresses import FetchRefused
    from assent.net.outgoing import post_json

    try:
        posted = await post_json(url, body, allow_hosts=allow_hosts, timeout_seconds=timeout_seconds)
    except FetchRefused as refused:
        return HookResponse(None, str(refused), sent=refused.why in ("timeout", "broken"))
    return HookResponse(
        posted.status, posted.body.decode("utf-8", "replace").strip(), retry_after=posted.retry_after
    )


async def reach_mail_server(allow_hosts: tuple[str, ...], host: str, port: int) -> str:
    """Resolve and check a workspace's mail server. Private addresses need permission."""
    from assent.net.addresses import FetchRefused, numbers_of

    try:
        return (await numbers_of(host, port, allow_hosts=allow_hosts))[0]
    except FetchRefused as refused:
        private = refused.why == "address"
        more = (
            " The person who runs this server can allow it, or connect it in a terminal." if private else ""
        )
        raise NotSent(
            Reason.MISSING_CONNECTOR if private else Reason.CONNECTOR_FAILED, f"{refused}{more}", curable=True
        ) from None


def built_in_connectors(app: App) -> dict[str, Connector]:
    settings = app.settings

    async def publish(action: Action) -> SitePage:
        made = await app.store.write(lambda: site_feed.publish(action, app.clock.now_ms()))
        return SitePage(made.post_id, app.services.links.base_url + made.path, made.published_ms)

    async def take_down(action: Action) -> SitePage:
        made = await app.store.write(lambda: site_feed.take_down(action, app.clock.now_ms()))
        if made is None:
            raise refusal("the page was taken down before")
        return SitePage(made.post_id, app.services.links.base_url + made.path, made.published_ms)

    return register(
        (
            SiteConnector(publish, app.visits.read_counts, take_down),
            ManualConnector(),
            SmtpConnector(
                settings.smtp_url,
                settings.smtp_from,
                app.clock,
                connections=app.connections,
                reach=partial(reach_mail_server, settings.allow_hosts),
            ),
            *oauth_connectors(app),
            ZernioConnector(settings.zernio_url, app.connections, app.pictures_of, app.clock),
            BlueskyConnector(settings.bluesky_url, app.connections, app.pictures_of, app.clock),
            SlackConnector(app.connections, partial(post_to_hook, settings.allow_hosts)),
            ResendConnector(settings.resend_url, app.connections, app.pictures_of, app.clock),
        )
    )


def oauth_connectors(app: App) -> tuple[Connector, ...]:
    """The OAuth connectors. All processes of the store share the renewal of their tokens."""
    settings = app.settings
    clients = {
        "google": OAuthClient(settings.google_client_id, settings.google_client_secret),
        "hubspot": OAuthClient(settings.hubspot_client_id, settings.hubspot_client_secret),
    }
    table = providers(clients, {"google": settings.google_oauth_url, "hubspot": settings.hubspot_url})
    turns = StoredLocks(app.store, app.clock, lambda now_ms: ids.uuid7(now_ms, os.urandom(ids.RANDOM_BYTES)))
    accesses = {
        info.id: OAuthAccess(table[info.id], info.label, app.connections, turns, app.clock)
        for info in CONNECTORS
        if info.id in table
    }
    return (
        Ga4Connector(accesses["ga4"], settings.ga4_url),
        SearchConsoleConnector(accesses["search_console"], settings.search_console_url),
        HubSpotConnector(accesses["hubspot"], settings.hubspot_url),
    )
