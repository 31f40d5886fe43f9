"""The first-run page: name the workspace, add the server to a client, decide about a first draft.

The page asks again every few seconds until a client has called, and ticks that step.
"""

from __future__ import annotations

from typing import Final, cast

from starlette.responses import Response

from assent.engine.core import brands, callers
from assent.engine.core.brands import WorkspaceBrand
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE, Principal
from assent.extensions.bundles import BundleProcess
from assent.ports import Transaction
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.shell import clients
from assent.serving.web.shell.console import LOOK, SEND, Screen, Visit

LOCAL_NAME: Final = LOCAL_PRINCIPAL.workspace_name
"""The name that the default workspace is made with."""


async def start(visit: Visit) -> Response:
    """Four steps; those that are done say so."""
    base_url, key = visit.services.links.base_url, clients.PLACEHOLDER_KEY

    def look() -> Transaction[tuple[WorkspaceBrand, dict[str, int]]]:
        brand = yield from brands.find(visit.workspace_id)
        return brand, (yield from callers.list_seen(visit.workspace_id))

    brand, seen = await visit.read(look)
    on_http = clients.http_snippets(base_url, key)
    is_local = visit.workspace_id == LOCAL_WORKSPACE
    values = {
        "is_named": brand.name != LOCAL_NAME,
        "name": brand.name,
        "snippets": (clients.stdio_snippet(visit.services, None), *on_http) if is_local else on_http,
        "endpoint": clients.endpoint(base_url),
        "placeholder_key": key,
        "connected": visit.when(max(seen.values())) if seen else None,
        "sample_nonce": visit.nonce(visit.here("sample")),
    }
    return visit.page("start.html", values)


async def make_sample(visit: Visit) -> Response:
    """Prepare the sample run and open it."""
    form = await visit.form(visit.here("sample"))
    text = "One draft for your own site appears in the inbox. Nothing is published unless you approve it."
    await visit.confirm(form, Consequence("Make a sample draft?", text, "Make it"))
    principal = Principal(
        workspace_id=visit.workspace_id,
        workspace_name=visit.place.name,
        key_id=None,
        mode="live",
        scopes=LOCAL_PRINCIPAL.scopes,
        label="sample",
    )
    run_id = await cast(BundleProcess, visit.services.bundle()).prepare_sample(principal)
    return visit.go(f"/runs/{run_id}")


SCREENS: Final = (
    Screen("/start", start, "", LOOK),
    Screen("/start/sample", make_sample, "", SEND),
)
