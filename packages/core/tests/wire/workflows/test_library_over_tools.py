"""An agent that knows only the tools follows every workflow of the public library to its end, and forks each once.

It takes what a blocked answer says as its instruction, asks a person where one is needed, and answers the conditions
of each file in several ways. Then the runs that together take every branch and loop of a file are played by the tools:
they ask the same steps in the same order.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.support.surfaces import Surface
from tests.support.workflows.agent import choices
from tests.support.workflows.kit import APPROVE, Payload, WorkflowClient
from tests.support.workflows.library import ABSENT, PUBLIC, builtin_files, compiled, public_files

FILES = public_files()
MOST_CALLS = 600

pytestmark = pytest.mark.skipif(not FILES, reason=ABSENT)


class Agent:
    """Follows a run by its answers. The seed decides what it puts into the context and when it leaves a loop."""

    def __init__(self, client: WorkflowClient, path: Path, seed: int) -> None:
        self.client = client
        self.program = compiled(path).program
        self.random = random.Random(seed)  # noqa: S311 - a script, not a secret
        self.asked = 0
        self.seen: list[str] = []
        self.answers: list[tuple[Payload, Payload]] = []

    def context(self) -> Payload:
        values: Payload = {}
        for name, options in choices(self.program).items():
            base, dot, _ = name.partition(".")
            value = self.random.choice([["one"], []]) if dot else self.random.choice(options)
            if value is not None:
                values[base] = value
        return values

    async def start(self) -> Payload:
        context = self.context()
        for _ in range(5):
            answer = await self.client.ask("workflow_start", workflowId=self.program.id, context=context)
            if not answer.is_error:
                return answer.payload
            paths = [problem["path"] for problem in answer.payload["problems"]]
            context |= {path.removeprefix("context."): ["a", "b"] for path in paths}
        raise AssertionError(answer.payload)

    async def finish(self, at: Payload, remark: str) -> Payload:
        """Follow the run to its end."""
        for _ in range(MOST_CALLS):
            if at["isComplete"]:
                return at
            self.seen.append(at["pending"]["stepKey"])
            at = await self.step(at, remark)
        raise AssertionError(f"not complete after {MOST_CALLS} steps")

    async def step(self, at: Payload, remark: str) -> Payload:
        content: Payload = {"notesMarkdown": f"{remark}: {at['pending']['stepKey']}"}
        for _ in range(8):
            answer = await self.client.send(at, **content)
            if answer.reason == "requires_approval":
                self.asked += 1
                await self.client.decide(APPROVE, answer.payload["actionId"])
                continue
            assert not answer.is_error, answer.payload
            if answer.payload["kind"] != "blocked":
                self.answers.append((at, content))
                return answer.payload
            at = answer.payload
            content = self.corrected(content, at)
        raise AssertionError(at)

    def corrected(self, content: Payload, blocked: Payload) -> Payload:
        """Exactly what the blocked answer asks for."""
        changed = dict(content)
        if "example" in blocked:
            changed["output"] = self.decided(blocked["example"])
        if "notesExample" in blocked:
            changed["notesMarkdown"] = blocked["notesExample"]
        wanted = [issue["path"] for issue in blocked["issues"] if issue["path"].startswith("context.")]
        values: Any = [{"name": "a"}, {"name": "b"}]
        if any("count" in issue["code"] for issue in blocked["issues"]):
            values = 2
        if wanted:
            changed["context"] = {path.removeprefix("context."): values for path in wanted}
        return changed

    def decided(self, example: Payload) -> Payload:
        parts = example.get("artifacts", [example])
        word = self.random.choice(["continue", "stop"])
        changed = [
            {**part, "decision": word} if part["kind"] == "wr.loop_control" else part for part in parts
        ]
        return {"artifacts": changed} if "artifacts" in example else changed[0]


@pytest.fixture
def changed_settings() -> dict[str, Any]:
    return {"workflow_dirs": (str(PUBLIC),)}


async def journey(client: WorkflowClient, path: Path, seeds: range) -> None:
    for seed in seeds:
        agent = Agent(client, path, seed)
        first = await agent.start()
        done = await agent.finish(first, "first")
        assert done["pending"] is None and done["ackToken"] is None
        confirmations, way = agent.asked, list(agent.answers)
        # A fork from the middle: the same place, told otherwise, to its own end.
        middle, content = way[len(way) // 2]
        replayed = await client.advance(middle, **content)
        assert replayed["stateToken"] == (way[len(way) // 2 + 1 :] or [(done, {})])[0][0]["stateToken"]
        fork = await agent.finish(middle, "forked")
        assert fork["isComplete"] and fork["stateToken"] != done["stateToken"]
        run_id = first["session"]["runId"]
        kinds = await client.kinds(run_id)
        assert kinds.count("step_acked") == len(agent.answers)
        assert kinds.count("action_hand_over") == agent.asked >= confirmations
        told = await client.rehydrate(middle)
        assert len(told["branches"]) >= 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
async def test_every_workflow_of_the_library_runs_to_its_end_and_forks(
    client: WorkflowClient, path: Path
) -> None:
    await journey(client, path, range(2))


@pytest.mark.parametrize("path", builtin_files(), ids=lambda path: path.stem)
@pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
async def test_every_workflow_of_our_own_runs_to_its_end_and_forks(
    client: WorkflowClient, path: Path
) -> None:
    await journey(client, path, range(3))


async def test_a_sample_runs_over_every_transport_and_store(client: WorkflowClient) -> None:
    for path in sorted(FILES, key=lambda path: path.stat().st_size)[:: len(FILES) // 3]:
        await journey(client, path, range(1))
    assert await client.journal_holds()


async def test_the_library_is_listed_and_its_invalid_file_refused_with_its_reasons(surface: Surface) -> None:
    await surface.sign_in()
    listed = (await surface.call("workflow_list", {"category": "all", "limit": 100})).payload
    assert len(listed["workflows"]) >= len(FILES)
    [invalid] = listed["invalid"]
    assert invalid["file"] == "invalid-workflow.json" and invalid["issues"]


async def test_the_list_is_short_and_leaves_examples_tests_and_routines_to_who_asks(surface: Surface) -> None:
    await surface.sign_in()
    answer = await surface.call("workflow_list")
    listed = answer.payload
    ids = {each["workflowId"] for each in listed["workflows"]}
    assert {"wr.bug-investigation", "assent.bug-fix"} <= ids
    assert not {"test-session-persistence", "simple-batch-example", "wr.routine-design-review"} & ids
    assert listed["leftOut"]["routine"] == 5 and listed["leftOut"]["example"] >= 5
    assert len(answer.message["result"]["content"][0]["text"]) < 5_000
    assert str(PUBLIC) not in str(answer.message)
    routines = (await surface.call("workflow_list", {"category": "routine"})).payload["workflows"]
    assert {each["workflowId"].partition("-")[0] for each in routines} == {"wr.routine"}
    bounded = (await surface.call("workflow_list", {"limit": 3})).payload
    assert len(bounded["workflows"]) == 3 and bounded["leftOut"]["more"] == len(ids) - 3


async def test_the_list_ranks_by_what_the_user_wants_done(surface: Surface) -> None:
    await surface.sign_in()

    async def first(query: str) -> str:
        return str(
            (await surface.call("workflow_list", {"query": query})).payload["workflows"][0]["workflowId"]
        )

    assert await first("bug investigation") == "wr.bug-investigation"
    assert await first("please fix this bug") == "assent.bug-fix"
    assert await first("challenge a hypothesis") == "wr.routine-hypothesis-challenge"
    nothing = (await surface.call("workflow_list", {"query": "zebra"})).payload
    assert nothing["note"] and len(nothing["workflows"]) > 10


async def test_the_names_that_the_contract_and_the_library_use_are_understood(surface: Surface) -> None:
    await surface.sign_in()
    for name, kept in (
        ("mr-review-workflow", "assent.merge-request-review"),
        ("routine-hypothesis-challenge", "wr.routine-hypothesis-challenge"),
    ):
        started = await surface.call("workflow_start", {"workflowId": name, "sessionId": name})
        assert started.payload["workflowId"] == kept
        found = (await surface.call("workflow_resume", {"workflowId": name})).payload["runs"]
        assert [run["sessionId"] for run in found] == [name]
    near = await surface.call("workflow_start", {"workflowId": "bug-investigations"})
    assert near.reason == "workflow_not_found" and "wr.bug-investigation" in near.payload["fixActionForAgent"]
    helps = near.payload["recoveryTool"]
    listed = (await surface.call(helps["name"], helps["args"])).payload["workflows"]
    assert listed[0]["workflowId"] == "wr.bug-investigation"
