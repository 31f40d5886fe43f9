"""Every page of the server: its route, and where a person sees it.

`VIEWS` has each page at the company of the gallery, `EMPTY` those of a server on which nothing has happened yet,
`STATES` the review page with actions in every state, `OTHERS` the routes that answer with something else. A GET route
in none of them fails a test. The pictures of `make screenshots` are taken of these views, too.
"""

from __future__ import annotations

from typing import Final

import msgspec
from playwright.async_api import Page

Step = tuple[str, str, str]
"""`("press", "Continue", "")`, `("fill", "Name", "Kari")`, `("click", ".css", "")`."""


class View(msgspec.Struct, frozen=True):
    """One page. `path` names places of the seed: `{run}`."""

    name: str
    route: str
    path: str
    steps: tuple[Step, ...] = ()
    """What leads to it from `path`."""
    visitor: bool = False
    """For a browser that is not signed in."""
    status: int = 200
    looks: int = 6
    """How often it can be looked at."""
    at: str = ""
    """The route that its last step posts to, if the page is an answer to a form."""


VIEWS: Final = (
    # Deciding.
    View("inbox", "/inbox", "/inbox"),
    View("inbox-sent", "/inbox", "/inbox?show=sent"),
    View("inbox-nothing", "/inbox", "/inbox?q=nothing+like+it"),
    View(
        "batch",
        "/inbox",
        "/inbox",
        (("click", "[id^=pick-]", ""), ("press", "Approve together", "")),
        at="/inbox/batch",
    ),
    View("review", "/runs/{run_id}", "/runs/{run}"),
    View("review-failed", "/runs/{run_id}", "/runs/{failed}"),
    View("refund", "/runs/{run_id}", "/runs/{refund}"),
    View("unknown", "/runs/{run_id}", "/runs/{unknown}"),
    View("review-by-link", "/runs/{run_id}", "{review_link}", visitor=True),
    View("edit", "/runs/{run_id}/actions/{action_id}/{decision}", "/runs/{run}/actions/{action}/edit"),
    View("confirm", "/start", "/start", (("press", "Make a sample draft", ""),), at="/start/sample"),
    # Looking back.
    View("search", "/search", "/search?q=loma"),
    View("search-commands", "/search", "/search"),
    View("runs", "/runs", "/runs"),
    View("runs-found", "/runs", "/runs?q=loma"),
    View("runs-nothing", "/runs", "/runs?q=nothing+like+it"),
    View("run", "/runs/{run_id}/story", "/runs/{measured}/story"),
    View("run-failed", "/runs/{run_id}/story", "/runs/{failed}/story"),
    View("sessions", "/sessions", "/sessions"),
    View("import", "/sessions/import", "/sessions/import"),
    View("session", "/sessions/{run_id}", "/sessions/{session}"),
    View("session-step", "/sessions/{run_id}", "/sessions/{session}?node=2"),
    View("plan", "/runs/{run_id}/plan", "/runs/{run}/plan"),
    View("compare", "/sessions/{run_id}/compare", "/sessions/{session}/compare"),
    View("timeline", "/sessions/{run_id}/timeline", "/sessions/{session}/timeline"),
    View("session-review", "/sessions/{run_id}/review", "/sessions/{session}/review"),
    View("print", "/sessions/{run_id}/print", "/sessions/{session}/print"),
    View("results", "/results", "/results?period=91"),
    View("results-month", "/results", "/results"),
    View("numbers", "/results/numbers", "/results/numbers?run={measured}"),
    View("memory", "/memory", "/memory"),
    View("memory-decisions", "/memory", "/memory?group=decisions"),
    View("memory-new", "/memory/new", "/memory/new"),
    View("memory-edit", "/memory/{entry_id}/edit", "/memory/{lesson}/edit"),
    View("operations", "/operations", "/operations?period=91"),
    View("audit", "/audit", "/audit"),
    View("verified", "/audit", "/audit", (("press", "Verify", ""),), at="/audit/verify"),
    View("missing", "", "/sessions/00000000-0000-7000-8000-000000000009", status=404),
    View("mistyped", "", "/no-such-page", status=404),
    # Setting up.
    View("connections", "/connectors", "/connectors"),
    View("connect", "/connect", "/connect"),
    View("provider", "/connect/{provider}", "/connect/zernio"),
    View("provider-mail", "/connect/{provider}", "/connect/resend"),
    View("settings", "/settings", "/settings"),
    View("passkeys", "/settings/passkeys", "/settings/passkeys"),
    View("notifications", "/settings/notifications", "/settings/notifications"),
    View("slack", "/settings/slack", "/settings/slack"),
    View("phone", "/settings/phone", "/settings/phone"),
    View("workspace", "/settings/workspace", "/settings/workspace"),
    View("people", "/settings/people", "/settings/people"),
    View("policy", "/settings/policy", "/settings/policy"),
    View("keys", "/settings/keys", "/settings/keys"),
    View("wrapped", "/agents/tools", "/agents/tools"),
    View("let-in", "/oauth/authorize", "{let_in}"),
    View("let-in-odd", "/oauth/authorize", "/oauth/authorize?client_id=x", status=400),
    View("webhooks", "/settings/outgoing", "/settings/outgoing"),
    View("credits", "/settings/credits", "/settings/credits"),
    View("start", "/start", "/start"),
    # For everyone.
    View("landing", "/", "/", visitor=True),
    View("for-agents", "/for-agents", "/for-agents", visitor=True),
    View("quickstart", "/docs/{name}", "/docs/quickstart", visitor=True),
    View("closed-loop", "/docs/{name}", "/docs/closed-loop", visitor=True),
    View("get-key", "/get-key", "/get-key", visitor=True),
    View("claim", "/claim/{token}", "{claim}", visitor=True),
    View("sign-in-how", "/sign-in", "/sign-in", visitor=True),
    View("sign-in", "/sign-in/{token}", "{sign_in}", visitor=True),
    View("link-ended", "/sign-in/{token}", "/sign-in/" + "A" * 54, visitor=True, status=404),
    View("sign-in-first", "/runs", "/runs", visitor=True, status=401),
    View("lost", "", "/no-such-page", visitor=True, status=404),
    View("feed-short", "/feed/{workspace}", "/feed/{workspace}", visitor=True),
    View("feed", "/feed/{workspace}/", "/feed/{workspace}/", visitor=True),
    View("post", "/feed/{workspace}/{post}", "{post}", visitor=True),
    # The last one: it signs in, and makes a workspace each time, of which an address has few.
    View(
        "key",
        "/get-key",
        "/get-key",
        (
            ("fill", "Your e-mail address", "kari@example.org"),
            ("press", "Create the workspace and show the key", ""),
        ),
        visitor=True,
        at="/get-key",
        looks=3,
    ),
)

EMPTY: Final = (
    View("empty-start", "/start", "/start"),
    View("empty-inbox", "/inbox", "/inbox"),
    View("empty-runs", "/runs", "/runs"),
    View("empty-sessions", "/sessions", "/sessions"),
    View("empty-results", "/results", "/results"),
    View("empty-memory", "/memory", "/memory"),
    View("empty-operations", "/operations", "/operations"),
    View("empty-audit", "/audit", "/audit?group=sending"),
    View("provider-new", "/connect/{provider}", "/connect/zernio"),
    View("smtp-new", "/connect/{provider}", "/connect/smtp"),
    View("provider-absent", "/connect/{provider}", "/connect/ga4"),
    View(
        "consent-refused", "/connect/{provider}/callback", "/connect/ga4/callback?state=x&code=y", status=503
    ),
    View("held", "/inbox/held/{workspace_id}/{proposer}", "{held}"),
)

STATES: Final = (
    View("waiting-by-link", "/runs/{run_id}", "{waiting_link}", visitor=True),
    View("waiting", "/runs/{run_id}", "/runs/{waiting}"),
    View("decided", "/runs/{run_id}", "/runs/{decided}"),
    View("report", "/runs/{run_id}", "{report_link}", visitor=True),
    View("by-hand", "/runs/{run_id}", "{by_hand_link}", visitor=True),
    View("wrong-link", "/runs/{run_id}", "{waiting_link}x", visitor=True, status=403),
    View("signed-in", "/sign-in", "/sign-in"),
    View(
        "mistake",
        "/runs/{run_id}",
        "/runs/{waiting}",
        (
            ("click", "details.reject > summary", ""),
            ("fill", "Why not?", "   "),
            ("press", "Reject for good", ""),
        ),
        status=400,
    ),
)

OTHERS: Final = {
    # It leads to the page of its run.
    "/actions/{action_id}": "/actions/{sent}",
    # Documents for programs.
    "/api/mcp": "/api/mcp",
    "/api/mcp/": "/api/mcp/",
    "/mcp": "/mcp",
    "/mcp/": "/mcp/",
    "/.well-known/mcp.json": "/.well-known/mcp.json",
    "/.well-known/oauth-authorization-server": "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource": "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/api/mcp": "/.well-known/oauth-protected-resource/api/mcp",
    "/.well-known/oauth-protected-resource/mcp": "/.well-known/oauth-protected-resource/mcp",
    "/openapi.json": "/openapi.json",
    "/workflow.schema.json": "/workflow.schema.json",
    "/llms.txt": "/llms.txt",
    "/llms-full.txt": "/llms-full.txt",
    "/healthz": "/healthz",
    "/readyz": "/readyz",
    "/metrics": "/metrics",
    "/feed/{workspace}/atom.xml": "/feed/{workspace}/atom.xml",
    "/feed/{workspace}/feed.json": "/feed/{workspace}/feed.json",
    # Files.
    "/static/{name}": "/static/none.css",
    "/runs/{run_id}/pictures/{name}": "/runs/{run}/pictures/none.png",
    "/sessions/{run_id}/export": "/sessions/{session}/export",
    "/sessions/{run_id}/markdown": "/sessions/{session}/markdown",
    "/audit/export": "/audit/export",
    "/settings/workspace/logo/{digest}": "/settings/workspace/logo/none",
    "/feed/{workspace}/brand.css": "/feed/{workspace}/brand.css",
    "/feed/{workspace}/logo/{digest}": "/feed/{workspace}/logo/none",
    "/feed/{workspace}/{post}/pictures/{number}.png": "{post}/pictures/1.png",
    # A part of a page, a letter in its frame, a stream.
    "/inbox/pane/{action_id}": "/inbox/pane/{action}",
    "/runs/{run_id}/actions/{action_id}/html": "/runs/{run}/actions/{mail}/html",
    "/events": "",
    # On to another page.
    "/audit/verify": "/audit/verify",
    "/feed/{workspace}/{post}/go": "{post}/go",
}
"""Routes without a page of their own, with an address of each. An empty one is not opened: it never ends."""


VIEW_NAMES: Final = {view.name: view for view in (*VIEWS, *EMPTY)}


async def follow(page: Page, view: View) -> None:
    """Do what leads to a view on the page of its path."""
    for what, on, text in view.steps:
        if what == "press":
            # A form that is signed in place is sent in the background first, so the click does not wait.
            async with page.expect_navigation(timeout=10_000):
                await page.get_by_role("button", name=on, exact=True).first.click(timeout=10_000)
        elif what == "fill":
            await page.get_by_label(on).first.fill(text, timeout=10_000)
        else:
            await page.locator(on).first.click(timeout=10_000)
    await page.wait_for_load_state()
