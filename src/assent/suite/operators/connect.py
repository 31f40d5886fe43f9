"""`chieflab-connect`: wiring a provider. The human enters keys on a page or in the settings, never in a chat."""

from __future__ import annotations

from assent.suite.operators.definition import OperatorInfo

INFO = OperatorInfo(
    id="chieflab-connect",
    label="Connect",
    function="Says how a provider is connected and whether it is.",
    primary_tool="chieflab_connect_provider",
    connectors=("site", "smtp", "zernio", "bluesky", "slack", "resend", "ga4", "search_console", "hubspot"),
    status="live",
    tools=(
        "chieflab_connect_provider",
        "chieflab_disconnect_provider",
        "chieflab_list_connectors",
        "chieflab_retry_blocked_action",
    ),
)
