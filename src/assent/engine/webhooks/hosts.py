"""The hosts that a workspace's results may be posted to: any public one, unless a person has named them.

Judged when a result is staged, while the caller can still mend it, and again at every try, so that a limit holds for
what was queued before it. Deliberately unaware of how a host is read from an address: that is
`Services.webhook_host`, the same reading by which the connection is made.
"""

from __future__ import annotations

from collections.abc import Sequence

from assent.engine.core import journal
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.ports import Transaction
from assent.sql.loader import statements


def find(workspace_id: WorkspaceId) -> Transaction[tuple[str, ...] | None]:
    """The hosts that may be posted to; None where any public one may."""
    rows = yield statements.find_webhook_hosts(workspace_id=workspace_id)
    kept = rows[0]["webhook_hosts"] if rows else None
    return tuple(kept.split()) if kept is not None else None


def limit(
    workspace_id: WorkspaceId, hosts: Sequence[str] | None, now_ms: int, *, by: str
) -> Transaction[None]:
    """Let results go to these hosts alone, to none where there are none, or with None to any public one."""
    kept = " ".join(hosts) if hosts is not None else None
    if not (yield statements.set_webhook_hosts(workspace_id=workspace_id, webhook_hosts=kept)):
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    facts = {"hosts": list(hosts) if hosts is not None else None, "by": by}
    event = journal.NewEvent("webhook_hosts_changed", facts)
    yield from journal.append(workspace_id, workspace_id, [event], now_ms)


def why_not(hosts: Sequence[str] | None, host: str) -> str | None:
    """Why nothing may be posted to a host, in words; None where it may be."""
    if hosts is None or host in hosts:
        return None
    if not hosts:
        return "This workspace lets nothing be posted to webhooks."
    return f"This workspace lets results be posted to these hosts only: {', '.join(hosts)}."


def require(workspace_id: WorkspaceId, host: str) -> Transaction[None]:
    """Refuse a webhook at a host that the workspace does not allow."""
    refused = why_not((yield from find(workspace_id)), host)
    if refused is not None:
        wanted = f"an address that this workspace allows. {refused}"
        raise bad_argument("webhookUrl", wanted, repr(host))
