"""Makes the connectors of e-mail: a mail server, and Resend."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from assent import NotSent
from assent.platform import Connector, KeyAccess, MailServer
from assent.sdk import Reason
from assent_launch.channels.email import RESEND
from assent_launch.channels.email.resend import ResendConnector
from assent_launch.channels.email.smtp import SmtpConnector

if TYPE_CHECKING:
    from assent_launch.channels.factory import ConnectorParts


async def reach_mail_server(allow_hosts: tuple[str, ...], server: MailServer) -> MailServer:
    """Resolve and check a workspace's mail server. Private addresses need permission."""
    from assent.sdk import FetchRefused

    try:
        return await server.resolve(allow_hosts)
    except FetchRefused as refused:
        private = refused.why == "address"
        more = (
            " The person who runs this server can allow it, or connect it in a terminal." if private else ""
        )
        raise NotSent(
            f"{refused}{more}",
            retry=True,
            reason=Reason.MISSING_CONNECTOR if private else Reason.CONNECTOR_FAILED,
        ) from None


def make_connectors(parts: ConnectorParts) -> tuple[Connector, ...]:
    settings = parts.settings
    return (
        SmtpConnector(
            settings["smtp_url"],
            settings["smtp_from"],
            parts.clock,
            services=parts.services,
            reach=partial(reach_mail_server, settings["allow_hosts"]),
        ),
        ResendConnector(settings["resend_url"], KeyAccess(RESEND, parts.connections), parts.clock),
    )
