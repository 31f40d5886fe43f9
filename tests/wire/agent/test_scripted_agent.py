"""An agent that holds no tool name gets a post out, with the person's help and whatever is missing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.agent import people, scripted
from tests.support.agent.people import Person
from tests.support.agent.scripted import Agent
from tests.support.answers import bodies_of
from tests.support.catalog import ALL_TOOLS
from tests.support.connections.kit import Providers, providers
from tests.support.keys import make_key
from tests.support.surfaces import ManualClock, Surface, settings_for

from assent.app import App
from assent.engine.core.tenancy import LOCAL_WORKSPACE, SCOPES
from assent.gate.policy import PRESETS
from assent.ports import Single
from assent.present.cards import quote
from assent.sql.loader import statements
from assent.tools.catalog import Catalog
from assent_conform.emulators import zernio
from assent_conform.testing.provider_server import Outcome

pytestmark = pytest.mark.own_database

WITHOUT_DECISIONS = tuple(scope for scope in SCOPES if scope != "actions:decide")
POST = {"channel": "linkedin", "body": "Tern v2 is out.", "title": "Tern v2"}
SITE = {"channel": "site", "body": "Tern v2 is out.", "title": "Tern v2"}


@dataclass
class Scene:
    surface: Surface
    far: Providers
    person: Person
    agent: Agent

    async def key(self, scopes: tuple[str, ...] = SCOPES) -> None:
        """A key of the workspace whose owner the person is."""
        await self.surface.app.prepare()
        self.surface.key = await make_key(self.surface.app, scopes=scopes)

    async def connect(self) -> None:
        """Connect the provider as it is done on its page, before the agent comes."""
        await self.person.read(f"http://127.0.0.1:8080/connect/zernio?workspace={LOCAL_WORKSPACE}")

    async def work(self, wish: dict[str, Any]) -> dict[str, Any]:
        self.person.wish = wish
        started = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        hello = await self.surface.rpc("initialize", started)
        return await self.agent.work(hello["result"]["instructions"])

    @property
    def posted(self) -> list[str]:
        return [effect.content["content"] for effect in self.far.zernio.ledger.effects()]


@pytest.fixture
async def scene(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Scene]:
    clock = ManualClock()
    async with providers(tmp_path, clock) as far:
        settings = settings_for(database_url, tmp_path, **far.settings(), allow_hosts=("127.0.0.1",))
        app = App(settings, clock=clock)
        surface = Surface(app, transport)
        person = Person(surface, POST, provider_key=zernio.KEY)

        async def call(name: str, args: dict[str, Any]) -> dict[str, Any]:
            """A call to a server that does its jobs in the meantime."""
            await surface.run_jobs()
            outcome = await surface.call(name, args)
            clock.advance(seconds=60)
            return outcome.payload

        agent = Agent(call, person, lambda seconds: clock.advance(seconds=seconds))
        try:
            yield Scene(surface, far, person, agent)
        finally:
            await person.close()
            await surface.close()


def test_it_holds_no_tool_name() -> None:
    text = "".join(Path(str(module.__file__)).read_text() for module in (scripted, people))
    names = [
        name for tool in Catalog(ALL_TOOLS).tools for name in (tool.name, *tool.aliases, *tool.legacy_names)
    ]

    assert [name for name in names if name in text] == []
    assert re.findall(r"\b(?:chieflab|chiefmo|workflow)_", text) == []


async def test_a_caller_without_a_key_gets_one_and_publishes(scene: Scene) -> None:
    answer = await scene.work(SITE)

    assert answer["status"] == "executed"
    assert len([path for path in scene.person.opened if path.startswith("/claim/")]) == 1


async def test_a_key_that_cannot_decide_waits_for_the_person_on_the_page(scene: Scene) -> None:
    await scene.key(WITHOUT_DECISIONS)

    answer = await scene.work(SITE)

    assert answer["status"] == "executed"
    assert scene.person.opened[0].startswith("/runs/")


async def test_where_people_decide_everything_the_agent_leads_to_the_page(scene: Scene) -> None:
    await scene.key()
    policy = msgspec.json.encode(PRESETS["people"]).decode()
    await scene.surface.app.store.write(
        Single(statements.set_policy(workspace_id=LOCAL_WORKSPACE, policy=policy))
    )

    answer = await scene.work(SITE)

    assert answer["status"] == "executed"
    assert answer["assurance"] == "person"


async def test_a_missing_provider_is_connected_on_the_way(scene: Scene) -> None:
    await scene.key()

    answer = await scene.work(POST)

    assert answer["status"] == "executed"
    assert scene.posted == ["Tern v2 is out."]


@pytest.mark.parametrize(
    "fault", [Outcome.REFUSE_422, Outcome.ERROR_BEFORE, Outcome.REFUSE_429, Outcome.REFUSE_401]
)
async def test_a_failing_provider_ends_with_the_post_out_once(scene: Scene, fault: Outcome) -> None:
    await scene.key()
    await scene.connect()
    scene.far.zernio.plan(fault)

    answer = await scene.work(POST)

    assert answer["status"] == "executed"
    assert scene.posted.count("Tern v2 is out.") <= 1


@pytest.mark.parametrize(
    ("tool", "wish", "text"),
    [
        (
            "chieflab_send",
            {"to": "ana@example.org", "goal": "thank them for the meeting"},
            {"subject": "Thank you", "body": "Dear Ana,\n\nthank you for your time today."},
        ),
        (
            "chieflab_post",
            {
                "channel": "linkedin",
                "goal": "hiring post for a senior Go engineer",
                "repoContext": {"readme": "# Tidepool\n\nTidepool writes the handover of a shift."},
            },
            {"body": "We look for a senior Go engineer who likes quiet on-call nights."},
        ),
    ],
)
async def test_an_agent_that_follows_the_words_stages_its_own_text_in_two_calls(
    scene: Scene, tool: str, wish: dict[str, Any], text: dict[str, str]
) -> None:
    await scene.key()
    scene.person.wish = text

    staged = await scene.agent.stage(tool, wish)

    assert len(scene.agent.made) == 2
    (shown,) = bodies_of(staged).values()
    assert quote(text["body"]) in shown
    assert staged["externalActionsExecuted"] == 0
