"""Every cell of docs/assurance.md, played: what an injected agent holds, and the assurance that the policy asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult
from packages.core.tests.wire.review.test_claimed_workspaces import KEY, Town
from tests.support.keyed_browser import BrowserKey, ConfirmPage, is_confirm_page
from tests.support.keys import make_key
from tests.support.review.kit import Server, forms, post
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import BASE_URL

from assent.engine.actions import actions, policies
from assent.engine.actions.staging import PreparedRun
from assent.engine.core.tenancy import LOCAL_WORKSPACE, SCOPES
from assent.gate.records import Action, Assurance
from assent.kernel.ids import ActionId, RunId, WorkspaceId

HTTPS = "https://assent.example.com"


class Target:
    """A server, an action that waits in it, and the policy that asks for one assurance."""

    def __init__(self, server: Server, needed: Assurance, folder: Path) -> None:
        self.server = server
        self.needed = needed
        self.folder = folder
        self.workspace_id = LOCAL_WORKSPACE
        self.run: PreparedRun | None = None

    async def set_policy(self, workspace_id: WorkspaceId = LOCAL_WORKSPACE) -> None:
        source = {"preset": "none", "rule": [{"name": "all", "ask": {"assurance": self.needed.value}}]}
        await self.server.app.store.write(lambda: policies.save(workspace_id, source, 1, by="test"))

    async def stage(self) -> PreparedRun:
        self.run = await self.server.stage(post())
        await self.set_policy()
        return self.run

    async def action(self) -> Action:
        assert self.run is not None
        action_id = ActionId(self.run.actions[0].id)
        found, _ = await self.server.app.store.read(lambda: actions.find(self.workspace_id, action_id))
        return found

    async def key(self, scopes: tuple[str, ...]) -> str:
        return await make_key(self.server.app, scopes=scopes)

    async def press(self, browser: httpx.AsyncClient) -> None:
        """Press the button of the page, and forge the signature that it asks for."""
        assert self.run is not None
        shown = await browser.get(f"/runs/{self.run.run_id}")
        for form in forms(shown.text) if shown.status_code == 200 else ():
            if form.decision != "approve":
                continue
            named = {"name": "A. Visitor"} if "name" in form.fields else {}
            answer = await browser.post(form.address, data={**form.fields, **named})
            if is_confirm_page(answer):
                asked = ConfirmPage(answer.text)
                forged = BrowserKey().sign(asked.statement())
                await browser.post(asked.path, data={**asked.fields, "proof": forged})


async def approve_by_tool(target: Target, key: str) -> None:
    run = await target.stage()
    agent = target.server.browser(Authorization=f"Bearer {key}")
    action_id = run.actions[0].id
    for tool in ("chieflab_approve_action", "chieflab_execute_approved_action"):
        await agent.post(f"/api/tools/{tool}", json={"actionId": action_id})


async def with_full_key(target: Target) -> None:
    await target.server.app.prepare()
    await approve_by_tool(target, await target.key(SCOPES))


async def with_drafts_key(target: Target) -> None:
    await target.server.app.prepare()
    key = await target.key(("runs:write",))
    await approve_by_tool(target, key)
    assert target.run is not None
    agent = target.server.browser(Authorization=f"Bearer {key}")
    listed = await agent.post("/api/tools/chieflab_list_pending_actions", json={"runId": target.run.run_id})
    await agent.get(listed.json().get("reviewUrl", f"/runs/{target.run.run_id}"))
    await target.press(agent)


async def with_link(target: Target) -> None:
    run = await target.stage()
    await target.press(await target.server.opened(run))


async def with_claimed_signup(target: Target) -> None:
    town = Town(target.server)
    browser, page, workspace_id = await town.claimed()
    target.run, target.workspace_id = await town.staged(page, post()), workspace_id
    await target.set_policy(workspace_id)
    await target.press(browser)


async def with_server_address(target: Target) -> None:
    """Sign up with nothing, and use all that this gives on what waits in the default workspace."""
    run = await target.stage()
    stranger = target.server.browser()
    asked = await stranger.post("/api/tools/chieflab_signup_workspace", json={"email": "eve@example.org"})
    page = await stranger.post(httpx.URL(asked.json()["deliveryUrl"]).raw_path.decode())
    [key] = set(KEY.findall(page.text))
    await target.press(stranger)
    agent = target.server.browser(Authorization=f"Bearer {key}")
    for tool in ("chieflab_get_action", "chieflab_approve_action", "chieflab_execute_approved_action"):
        answer = await agent.post(f"/api/tools/{tool}", json={"actionId": run.actions[0].id})
        assert answer.json()["reason"] == "wrong_workspace"


async def with_accepting_client(target: Target) -> None:
    run = await target.stage()
    key = await target.key(SCOPES)

    async def accept(context: object, params: object) -> ElicitResult:
        return ElicitResult(action="accept", content={"decision": "approve"})

    wire = httpx2.ASGITransport(app=target.server.site, client=("203.0.113.7", 50_000))
    async with httpx2.AsyncClient(transport=wire, headers={"Authorization": f"Bearer {key}"}) as http:
        server = streamable_http_client(f"{target.server.base_url}/api/mcp", http_client=http)
        async with mcp.Client(server, mode="2026-07-28", elicitation_callback=accept) as client:
            await client.call_tool("chieflab_approve_action", {"actionId": run.actions[0].id})


async def with_stolen_cookie(target: Target) -> None:
    run = await target.stage()
    assert run is not None
    owner = await target.server.owner()
    thief = target.server.browser()
    thief.cookies.update(owner.cookies)
    await target.press(thief)


async def with_own_server(target: Target) -> None:
    """Everything that a server signs, by a server of the attacker's own."""
    run = await target.stage()
    folder = target.folder / "own"
    folder.mkdir()
    own = {"secrets": ("own-" + "k3Vz9" * 8,), "run_token_secrets": ("own-" + "q7Lm2" * 8,)}
    other = Server(new_sqlite(folder / "assent.db"), folder, target.server.base_url, **own)  # type: ignore[arg-type]
    try:
        await other.app.prepare()
        owner = await other.owner()
        thief = target.server.browser()
        thief.cookies.update(owner.cookies)
        await target.press(thief)
        now_ms = other.clock.now_ms()
        link = other.services.links.review_url(LOCAL_WORKSPACE, RunId(run.run_id), now_ms, "review")
        await thief.get(httpx.URL(link).raw_path.decode())
        await target.press(thief)
    finally:
        await other.close()


async def with_other_user(target: Target) -> None:
    """What another user of the machine can open of the server's files."""
    import stat

    await target.stage()
    for path in (target.folder, *target.folder.rglob("*")):
        mode = path.stat().st_mode
        if path.is_file() and ("secret" in path.name or path.suffix in (".db", ".key")):
            closed = not mode & (stat.S_IRWXG | stat.S_IRWXO)
            assert closed or not path.parent.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO), path


PLAYS: dict[str, Callable[[Target], Awaitable[None]]] = {
    "the address of the server and nothing else": with_server_address,
    "a key that only prepares (`--scope runs:write`)": with_drafts_key,
    "a key with every scope": with_full_key,
    "the review link of the action": with_link,
    "the page of a sign-up that it claimed itself": with_claimed_signup,
    "a client whose dialogs it answers itself": with_accepting_client,
    "the session cookie of a signed-in person, on plain http (also of a page on another port)": with_stolen_cookie,
    "that cookie, of a server with https and a host name of its own": with_stolen_cookie,
    "a server that it started itself, with its own secrets": with_own_server,
    "a shell under another user of the machine": with_other_user,
}
"""How each row of the page is played."""


def read_cells() -> list[tuple[str, Assurance, bool]]:
    """What is held, the assurance that is asked for, and whether the page says that it can approve."""
    page = (Path(__file__).parents[5] / "docs/assurance.md").read_text()
    table = page[page.index("| it holds |") :].partition("\n\n")[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in table)
    levels = [Assurance(each.strip("`")) for each in head[1:-1]]
    cells = [(row[0], zip(levels, row[1:-1], strict=True)) for row in rows]
    return [(held, level, said == "can") for held, said_of in cells for level, said in said_of]


CELLS = read_cells()


@pytest.fixture
async def target(held: str, needed: Assurance, tmp_path: Path) -> AsyncIterator[Target]:
    from assent.settings.secret_files import ensure_data_dir

    folder = tmp_path / "data"
    ensure_data_dir(folder)
    server = Server(new_sqlite(folder / "assent.db"), folder, HTTPS if "https" in held else BASE_URL)
    yield Target(server, needed, folder)
    await server.close()


def test_the_page_has_a_row_for_everything_that_is_played() -> None:
    assert list(dict.fromkeys(held for held, _, _ in CELLS)) == list(PLAYS)
    assert len(CELLS) == 4 * len(PLAYS)


@pytest.mark.parametrize(("held", "needed", "can_approve"), CELLS)
async def test_an_injected_agent_can_approve_exactly_what_the_page_says(
    target: Target, held: str, needed: Assurance, can_approve: bool
) -> None:
    await PLAYS[held](target)
    found = await target.action()
    assert (found.approval is not None) == can_approve
    assert target.server.provider.done == [] or can_approve
