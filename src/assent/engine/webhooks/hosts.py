"""The hosts that a workspace's results may be posted to: any public one, unless a person has listed
them.

Checked when a result is staged, while the caller can still correct it, and again at every attempt,
so that a new limit also applies to queued deliveries. The host of a URL is parsed by
`webhook_host`, as the connection parses it.
"""

from __future__ import annotations

from collections.abc import Sequence

from assent.engine.core import journal
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.ports import Transaction
from assent.sql.loader import statements


def find(workspace_id: WorkspaceId) -> Transaction[tuple[str, ...] | None]:
    """Return the allowed hosts; None if any public one is allowed."""
    rows = yield statements.find_webhook_hosts(workspace_id=workspace_id)
    kept = rows[0]["webhook_hosts"] if rows else None
    return tuple(kept.split()) if kept is not None else None


def limit(
    workspace_id: WorkspaceId, hosts: Sequence[str] | None, now_ms: int, *, by: str
) -> Transaction[None]:
    """Allow only these hosts; an empty list allows none, None allows any public one."""
    kept = " ".join(hosts) if hosts is not None else None
    if not (yield statements.set_webhook_hosts(workspace_id=workspace_id, webhook_hosts=kept)):
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    facts = {"hosts": list(hosts) if hosts is not None else None, "by": by}
    yield from journal.note(workspace_id, "webhook_hosts_changed", facts, now_ms)


def explain_refusal(hosts: Sequence[str] | None, host: str) -> str | None:
    """Explain why a host is not allowed; None if it is."""
    if hosts is None or host in hosts:
        return None
    if not hosts:
        return "This workspace allows no webhooks."
    return f"This workspace allows webhooks to these hosts only: {', '.join(hosts)}."


def require(workspace_id: WorkspaceId, host: str) -> Transaction[None]:
    """Raise `Refusal` for a host that the workspace does not allow."""
    refused = explain_refusal((yield from find(workspace_id)), host)
    if refused is not None:
        wanted = f"an address that this workspace allows. {refused}"
        raise bad_argument("webhookUrl", wanted, repr(host))
