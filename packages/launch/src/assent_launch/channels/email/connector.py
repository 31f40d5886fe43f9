"""Makes the connectors of e-mail: a mail server, and Resend."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from assent import NotSent
from assent.platform import Connector
from assent.sdk import Reason
from assent_launch.channels.email.resend import ResendConnector
from assent_launch.channels.email.smtp import SmtpConnector

if TYPE_CHECKING:
    from assent_launch.channels.factory import ConnectorParts


async def reach_mail_server(allow_hosts: tuple[str, ...], host: str, port: int) -> str:
    """Resolve and check a workspace's mail server. Private addresses need permission."""
    from assent.platform import FetchRefused, numbers_of

    try:
        return (await numbers_of(host, port, allow_hosts=allow_hosts))[0]
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
            connections=parts.connections,
            reach=partial(reach_mail_server, settings["allow_hosts"]),
        ),
        ResendConnector(settings["resend_url"], parts.connections, parts.pictures_of, parts.clock),
    )
