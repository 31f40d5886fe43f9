"""A session out of one server and into another: the same story, other tokens, and nothing that was tampered with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import MASTER, ManualClock, Surface, settings_for
from tests.support.workflows.kit import APPROVE, Payload, WorkflowClient, definition
from tests.support.workflows.library import step

from assent.app import App
from assent.engine.audit.log import find_flaws
from assent.engine.workflows import bundles
from assent.engine.workflows import store as stored
from assent.engine.workflows.bundles import Imported
from assent.engine.workflows.store import FORGET_JOB, SessionNote, Tampered
from assent.jobs.kinds import job_kinds
from assent.kernel.canonical import digest
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Refusal
from assent.workflow import Snapshot, reduce
from assent.workflow import bundle as files
from assent.workflow.bundle import Bundle, BundleRefused, ExportedRun
from assent.workflow.machine.state import encode
from assent.workflow.text import write_markdown

pytestmark = pytest.mark.own_database

GATED = definition(
    "story",
    step("plan", notesOptional=False),
    step("release", requireConfirmation=True),
    step("review", outputContract={"contractRef": "mr_review.changed_files"}),
    step("end"),
)
KEPT = ("workflow_nodes", "workflow_answers", "workflow_checkpoints", "workflow_programs", "workflow_runs")
FILES = {"kind": "mr_review.changed_files", "changedFiles": [{"path": "a.py", "summary": "New", "risk": "L"}]}


async def exported(client: WorkflowClient, session_id: str = "S") -> Bundle:
    of, now_ms = client.workspace_id, client.surface.clock.now_ms()
    made = await client.surface.app.store.read(lambda: bundles.export(of, session_id, now_ms))
    assert made is not None
    return made


async def imported(client: WorkflowClient, raw: bytes, into: WorkspaceId | None = None) -> Imported:
    app, now_ms, of = client.surface.app, client.surface.clock.now_ms(), into or client.workspace_id
    made, digest = files.read(raw), files.digest_of(raw)
    return await app.store.write(
        lambda: bundles.import_session(
            of, made, digest, app.keys.workflow_tokens, app.owner_services.new_id, now_ms
        )
    )


def story(run: ExportedRun) -> Any:
    """What anybody can see of a run."""
    told = bundles.fold_lineage(run)
    return (
        [msgspec.structs.replace(each, latest=0) for each in told.steps],
        [each.node for each in sorted(told.steps, key=lambda each: each.latest)],
        [msgspec.structs.replace(node, event_seq=0) for node in run.nodes],
        [(each.node, each.notes, each.created_ms) for each in run.checkpoints],
        reduce([(node.step_key, artifact) for node in run.nodes for artifact in node.artifacts]),
    )


async def live(client: WorkflowClient) -> Payload:
    """A session with two runs: blocks, a branch, a confirmation, an output, checkpoints."""
    first = await client.start(GATED, sessionId="S", context={"who": "Ada"})
    blocked = await client.advance(first)
    at = await client.advance(blocked, notesMarkdown="the plan")
    await client.checkpoint(at, "half of it")
    client.surface.clock.advance(hours=1)
    refusal = (await client.send(at, notesMarkdown="ready")).payload
    await client.decide(APPROVE, refusal["actionId"])
    at = await client.advance(at, notesMarkdown="ready")
    at = await client.advance(at, output=FILES)
    await client.advance(at)
    await client.advance(first, notesMarkdown="another plan")
    await client.start(sessionId="S")
    return first


async def clean_server(
    client: WorkflowClient, tmp_path: Path, master: str = "quite another master secret, long"
) -> WorkflowClient:
    """A server that has never seen any of it, with keys of its own unless it is told which."""
    other = tmp_path / "other"
    other.mkdir()
    settings = settings_for(new_sqlite(other / "assent.db"), other, secrets=(master,))
    app = App(settings, clock=ManualClock())
    player = WorkflowClient(Surface(app, client.surface.transport), other / "workflows")
    await player.surface.sign_in()
    return player


@pytest.mark.rule("W71")
async def test_an_imported_session_tells_the_same_story_with_other_tokens(
    client: WorkflowClient, tmp_path: Path
) -> None:
    first = await live(client)
    before = await exported(client)
    raw = files.write(before)
    other = await clean_server(client, tmp_path)
    try:
        done = await imported(other, raw)
        assert (done.session_id, done.renamed) == ("S", False)
        after = await exported(other)
        assert [run.run_id for run in after.runs] == [run.run_id for run in before.runs]
        assert list(map(story, after.runs)) == list(map(story, before.runs))
        assert after.programs == before.programs
        assert await other.journal_holds()
        assert await other.reason(first) == "token_bad_signature"
        found = (await other.ask("workflow_resume", sessionId="S")).payload["runs"]
        mine = (await client.ask("workflow_resume", sessionId="S")).payload["runs"]
        assert {run["runId"] for run in found} == {run["runId"] for run in mine}
        assert not {run["stateToken"] for run in found} & {run["stateToken"] for run in mine}
        here = next(run for run in found if run["workflowId"] == "story")
        there = next(run for run in mine if run["workflowId"] == "story")
        told, known = await other.rehydrate(here), await client.rehydrate(there)
        assert told["recap"] == known["recap"] and told["pending"] == known["pending"]
        # It goes on here: approvals stayed behind, so the confirmation is asked for anew.
        answer = await other.send(told, notesMarkdown="ready")
        assert answer.reason == "requires_approval"
    finally:
        await other.surface.close()


@pytest.mark.rule("W71")
async def test_what_is_there_already_comes_in_as_new(client: WorkflowClient) -> None:
    await live(client)
    raw = files.write(await exported(client))
    before = [story(run) for run in (await exported(client)).runs]
    for name in ("S (2)", "S (3)"):
        done = await imported(client, raw)
        assert (done.session_id, done.renamed) == (name, True)
        assert [story(run) for run in (await exported(client, name)).runs] == before
    assert [story(run) for run in (await exported(client)).runs] == before
    assert await client.journal_holds()
    runs = (await client.ask("workflow_resume", sessionId="S (2)")).payload["runs"]
    told = await client.rehydrate(runs[0])
    assert told["session"]["sessionId"] == "S (2)"


@pytest.mark.rule("W71", "W10")
async def test_an_imported_session_has_other_tokens_under_the_same_key_too(
    client: WorkflowClient, tmp_path: Path
) -> None:
    at = await client.start(sessionId="S")
    second = await client.advance(at, notesMarkdown="one")
    raw = files.write(await exported(client))
    for token in (at["stateToken"], at["ackToken"], second["stateToken"], second["ackToken"]):
        assert token.encode() not in raw
    other = await clean_server(client, tmp_path, MASTER)
    try:
        await imported(other, raw)
        [run] = (await other.ask("workflow_resume", sessionId="S")).payload["runs"]
        assert run["runId"] == at["session"]["runId"]
        for tokens in (at, second):
            state = tokens["stateToken"]
            assert await other.reason(tokens, notesMarkdown="one") == "token_unknown_node"
            assert (await other.ask("workflow_advance", stateToken=state)).reason == "token_unknown_node"
            kept = await other.ask("workflow_checkpoint", stateToken=state, notesMarkdown="x")
            assert kept.reason == "token_unknown_node"
        told = await other.rehydrate(run)
        assert told["pending"] == second["pending"]
        mixed = {"stateToken": told["stateToken"], "ackToken": second["ackToken"]}
        assert await other.reason(mixed) == "token_scope_mismatch"
        third = await other.advance(told, notesMarkdown="two")
        assert third["pending"]["stepId"] == "three"
        assert await other.advance(told, notesMarkdown="two") == third
    finally:
        await other.surface.close()


@pytest.mark.rule("W8", "W71")
async def test_what_comes_into_another_workspace_is_a_run_of_its_own(client: WorkflowClient) -> None:
    at = await client.start(sessionId="S")
    raw = files.write(await exported(client))
    other = await client.surface.sign_in()
    done = await imported(client, raw, WorkspaceId(other.workspace_id))
    assert (done.session_id, done.renamed) == ("S", False)
    assert at["session"]["runId"] not in done.runs
    assert (await client.send(at)).reason == "token_unknown_node"
    [run] = (await client.ask("workflow_resume", sessionId="S")).payload["runs"]
    assert (await client.rehydrate(run))["pending"] == at["pending"]


@pytest.mark.rule("W71", "W72")
async def test_a_session_that_was_forgotten_comes_in_again(client: WorkflowClient) -> None:
    at = await client.start(sessionId="S")
    raw = files.write(await exported(client))
    client.surface.clock.advance(days=91)
    await job_kinds(client.surface.app)[FORGET_JOB].run(None)  # type: ignore[arg-type]
    done = await imported(client, raw)
    assert (done.session_id, done.renamed) == ("S", False)
    [run] = (await client.ask("workflow_resume", sessionId="S")).payload["runs"]
    assert (await client.rehydrate(run))["pending"] == at["pending"]
    assert await client.journal_holds()


@pytest.mark.rule("W68")
@pytest.mark.parametrize("version", [0, 2, 99, "1", None])
async def test_a_bundle_of_another_version_is_refused(client: WorkflowClient, version: Any) -> None:
    await client.start(sessionId="S")
    document = json.loads(files.write(await exported(client)))
    document["version"] = version
    with pytest.raises(BundleRefused, match="version"):
        files.read(json.dumps(document).encode())


@pytest.mark.rule("W68")
async def test_a_place_of_another_generation_is_not_gone_on_from(client: WorkflowClient) -> None:
    at = await client.start(sessionId="S")
    await client.sql("UPDATE workflow_nodes SET snapshot = replace(snapshot, '\"format\":1', '\"format\":9')")
    before = await client.tables()
    assert (await client.send(at, notesMarkdown="on")).is_error
    assert await client.tables() == before


@pytest.mark.rule("W71")
@pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
async def test_one_flipped_byte_anywhere_is_refused(client: WorkflowClient) -> None:
    at = await client.start(sessionId="S")
    await client.advance(at, notesMarkdown="grüße")
    raw = files.write(await exported(client))
    assert files.read(raw).session_id == "S"
    for position in range(len(raw)):
        flipped = bytearray(raw)
        flipped[position] ^= 1 << (position % 8)
        with pytest.raises(BundleRefused):
            files.read(bytes(flipped))
    for cut in (0, 1, len(raw) // 2, len(raw) - 1):
        with pytest.raises(BundleRefused):
            files.read(raw[:cut])
    with pytest.raises(BundleRefused):
        files.read(raw + b" ")


@pytest.mark.rule("W67", "W71")
@pytest.mark.parametrize(
    ("table", "column"), [("workflow_nodes", "notes"), ("workflow_checkpoints", "notes"), ("events", "body")]
)
async def test_what_was_altered_in_the_store_is_not_exported(
    client: WorkflowClient, table: str, column: str
) -> None:
    at = await client.start(sessionId="S")
    await client.advance(at, notesMarkdown="the truth")
    await client.checkpoint(at, "the truth")
    await client.sql(f"UPDATE {table} SET {column} = replace({column}, 't', 'T')")
    with pytest.raises(Tampered):
        await exported(client)


BEHIND = {
    "notes": "UPDATE workflow_nodes SET notes = 'forged' WHERE node = 1",
    "a title": "UPDATE workflow_nodes SET title = 'forged' WHERE node = 1",
    "an output": "UPDATE workflow_nodes SET artifacts = '[]' WHERE node = 3",
    "a place": "UPDATE workflow_nodes SET snapshot = replace(snapshot, '\"at\":1', '\"at\":2')",
    "half a place": "UPDATE workflow_nodes SET snapshot = '{' WHERE node = 1",
    "a parent": "UPDATE workflow_nodes SET parent = 0 WHERE node = 2",
    "a step gone": "DELETE FROM workflow_nodes WHERE node = 2",
    "an end": "UPDATE workflow_nodes SET is_complete = 1 WHERE node = 1",
    "a checkpoint": "UPDATE workflow_checkpoints SET notes = 'forged'",
    "a checkpoint gone": "DELETE FROM workflow_checkpoints",
    "the workflow": "UPDATE workflow_programs SET program = replace(program, 'plan', 'plot')",
    "no workflow": "DELETE FROM workflow_programs",
    "its name": "UPDATE workflow_runs SET workflow_id = 'another'",
    "its session": "UPDATE workflow_runs SET session_id = 'another'",
    "a way": "UPDATE workflow_nodes SET next_node = 2 WHERE node = 0",
    "what led there": "UPDATE workflow_nodes SET next_edge = 'forged' WHERE node = 0",
    "no way": "UPDATE workflow_nodes SET next_edge = NULL WHERE node = 0",
    "the tokens of a way": "UPDATE workflow_nodes SET next_state = 'st.v1.' WHERE node = 0",
    "another's tokens": "UPDATE workflow_nodes SET next_ack = "
    "(SELECT next_ack FROM workflow_nodes WHERE node = 1) WHERE node = 0",
    "where an answer led": "UPDATE workflow_answers SET child = 1",
    "an answer gone": "DELETE FROM workflow_answers",
    "the tokens of an answer": "UPDATE workflow_answers SET answer = "
    "(SELECT answer FROM workflow_answers WHERE node = 0)",
    "a short token": 'UPDATE workflow_answers SET answer = \'{"stateToken": "st.v1.AAAA", "ackToken": null}\'',
    "half an answer": "UPDATE workflow_answers SET answer = '[]'",
    "no place": "UPDATE workflow_nodes SET snapshot = 'null' WHERE node = 1",
    "fewer branches": "UPDATE workflow_nodes SET children = 0 WHERE node = 2",
    "more steps": "UPDATE workflow_runs SET nodes = nodes + 1",
}


@pytest.mark.rule("W67")
async def test_what_was_altered_behind_the_server_is_found_by_verification(client: WorkflowClient) -> None:
    blocked = await client.advance(await client.start(GATED, sessionId="S"))
    at = await client.advance(blocked, notesMarkdown="the plan")
    await client.checkpoint(at, "the truth")
    refusal = (await client.send(at, notesMarkdown="ready")).payload
    await client.decide(APPROVE, refusal["actionId"])
    at = await client.advance(at, notesMarkdown="ready")
    await client.advance(at, output=FILES)
    await client.advance(at, output=FILES, notesMarkdown="Another branch.")
    assert await client.journal_holds()
    app = client.surface.app
    for name, change in BEHIND.items():
        kept = {table: await client.sql(f"SELECT * FROM {table}") for table in KEPT}
        await client.sql(change)
        found = [each async for each in find_flaws(app.store)]
        verdict = await client.journal_holds()
        for table, rows in kept.items():
            await client.sql(f"DELETE FROM {table}")
            for row in rows:
                await client.sql(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
        assert [each.run_id for each in found] == [at["session"]["runId"]] and not verdict, name
    assert await client.journal_holds()


@pytest.mark.rule("W71")
async def test_a_bundle_that_was_made_up_is_refused_and_leaves_nothing(client: WorkflowClient) -> None:
    at = await client.start(sessionId="S")
    await client.advance(at, notesMarkdown="one")
    made = await exported(client)
    run = made.runs[0]
    forged_node = msgspec.structs.replace(run.nodes[1], notes="forged")
    forged = [
        msgspec.structs.replace(run, nodes=[run.nodes[0], forged_node]),
        msgspec.structs.replace(run, nodes=run.nodes[:1]),
        msgspec.structs.replace(run, workflow_hash="sha256:" + "0" * 64),
        msgspec.structs.replace(run, events=run.events[:1]),
    ]
    before = await client.tables()
    for each in forged:
        raw = files.write(msgspec.structs.replace(made, session_id="F", runs=[each]))
        with pytest.raises(BundleRefused):
            await imported(client, raw)
    assert await client.tables() == before


def grown(run: ExportedRun, **changes: Any) -> ExportedRun:
    """A run whose second step says otherwise where it came from or stands, with a seal that fits: anybody can make
    one."""
    first, second, *others = run.nodes
    second = msgspec.structs.replace(
        second,
        parent=changes.get("parent", second.parent),
        snapshot=second.snapshot | {"context": changes.pop("context", second.snapshot["context"])},
    )
    snapshot = msgspec.convert(second.snapshot, Snapshot)
    sealed = stored.seal(
        stored.NewNode(
            node=second.node,
            parent=second.parent,
            step_key=second.step_key,
            title=second.title,
            notes=second.notes,
            artifacts=stored.artifacts_text(second.artifacts),
            snapshot=encode(snapshot),
            is_complete=snapshot.is_complete,
        )
    )
    events = list(run.events)
    events[1] = msgspec.structs.replace(events[1], body={**events[1].body, **changes, "seal": sealed})
    return msgspec.structs.replace(run, nodes=[first, second, *others], events=events)


@pytest.mark.rule("W67", "W71")
@pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
async def test_a_bundle_whose_steps_do_not_grow_from_one_another_is_refused(client: WorkflowClient) -> None:
    call = {"tool": "chieflab_post", "args": {"within": {"it": "{{what}}"}}}
    at = await client.start(definition("calling", step("one"), step("two", action=call)), sessionId="S")
    await client.advance(at, notesMarkdown="one")
    await client.advance(at, notesMarkdown="another branch")
    await client.checkpoint(at, "noted")
    made = await exported(client)
    run = made.runs[0]
    assert grown(run) == run
    branch = run.events[2].body["ackHash"]
    before = await client.tables()
    for each in (
        grown(run, parent=1),
        grown(run, parent=2),
        grown(run, parent=-1),
        grown(run, ackHash=branch),
        grown(run, context={"what": json.loads("[" * 64 + "]" * 64)}),
        msgspec.structs.replace(run, answers=run.answers * 2),
        msgspec.structs.replace(run, checkpoints=run.checkpoints * 2),
    ):
        with pytest.raises(BundleRefused):
            await imported(client, files.write(msgspec.structs.replace(made, session_id="F", runs=[each])))
    assert await client.tables() == before


def changed(document: Payload, path: str, value: Any) -> bytes:
    """A bundle with one thing changed and a digest that fits all the same: anybody can make one."""
    *way, last = path.split(".")
    place: Any = document
    for part in way:
        place = place[int(part) if part.isdigit() else part]
    place[last] = value
    sealed = {key: document[key] for key in ("format", "version", "content")}
    return msgspec.json.encode({**sealed, "digest": digest(sealed)}, order="sorted") + b"\n"


@pytest.mark.rule("W67", "W71")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("content.sessionId", ""),
        ("content.sessionId", "x" * 201),
        ("content.runs", []),
        ("content.runs.0.runId", "../../etc"),
        ("content.runs.0.workflowId", "another"),
        ("content.runs.0.createdMs", -(10**14)),
        ("content.runs.0.nodes.1.eventSeq", 77),
        ("content.runs.0.events.1.kind", "action_approved"),
        ("content.runs.0.events.1.seq", 1),
        ("content.runs.0.events.0.kind", "step_blocked"),
        ("content.runs.0.events.0.body.workflowHash", "another"),
        ("content.runs.0.events.1.body.node", [1]),
        ("content.runs.0.events.1.body.node", 1.0),
        ("content.runs.0.events.1.body.ackHash", ""),
        ("content.runs.0.name", "a\0b"),
        ("content.runs.0.answers.0.text", "a\0b"),
        ("content.runs.0.answers", []),
        ("content.runs.0.answers.0.at", 77),
        ("content.runs.0.answers.0.at", 1),
        ("content.runs.0.answers.0.child", 1),
        ("content.runs.0.answers.0.edge", "0" * 64),
        ("content.runs.0.answers.0.node", -1),
        ("content.runs.0.answers.0.attempt", -1),
        ("content.runs.0.answers.0.answer", {}),
        ("content.notes", [{"noteId": "n", "author": "A", "notes": "x", "createdMs": 1}] * 2),
    ],
)
@pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
async def test_a_bundle_that_no_server_would_write_is_refused_whatever_its_digest(
    client: WorkflowClient, path: str, value: Any
) -> None:
    at = await client.start(sessionId="S")
    await client.advance(at, notesMarkdown="one")
    await client.advance(at, notesMarkdown="another branch")
    document = json.loads(files.write(await exported(client)))
    before = await client.tables()
    with pytest.raises(BundleRefused):
        await imported(client, changed(document, path, value))
    assert await client.tables() == before


@pytest.mark.rule("W71")
async def test_an_imported_session_exports_as_what_it_was_imported_from(
    client: WorkflowClient, tmp_path: Path
) -> None:
    await live(client)
    before = await exported(client)
    other = await clean_server(client, tmp_path)
    try:
        await imported(other, files.write(before))
        after = await exported(other)
        assert msgspec.structs.replace(after, exported_ms=before.exported_ms) == before
    finally:
        await other.surface.close()


@pytest.mark.rule("W71", "W72")
async def test_an_old_session_that_comes_in_is_kept_as_if_it_was_just_touched(client: WorkflowClient) -> None:
    await client.start(sessionId="S" * 200)
    raw = files.write(await exported(client, "S" * 200))
    client.surface.clock.advance(days=200)
    done = await imported(client, raw)
    assert len(done.session_id) == 200 and done.session_id.endswith(" (2)")
    await job_kinds(client.surface.app)[FORGET_JOB].run(None)  # type: ignore[arg-type]
    [kept] = (await client.ask("workflow_resume", sessionId=done.session_id)).payload["runs"]
    assert (await client.rehydrate(kept))["pending"]["stepId"] == "one"
    assert (await client.ask("workflow_resume", sessionId="S" * 200)).payload["runs"] == []


async def test_people_write_on_a_session_and_it_goes_along(client: WorkflowClient) -> None:
    await client.start(sessionId="S")
    app, of = client.surface.app, client.workspace_id
    note = SessionNote("n1", "Ada", "We ship on Monday.", client.surface.clock.now_ms())
    await app.store.write(lambda: stored.add_note(of, "S", note))
    for session_id, text in (("nobody", "x"), ("S", " ")):
        bad = SessionNote("n2", "Ada", text, 1)
        with pytest.raises(Refusal):
            await app.store.write(lambda sid=session_id, bad=bad: stored.add_note(of, sid, bad))  # type: ignore[misc]
    made = await exported(client)
    assert [each.notes for each in made.notes] == ["We ship on Monday."]
    assert "We ship on Monday." in write_markdown(made, bundles.fold_lineage, str)
    done = await imported(client, files.write(made))
    again = await app.store.read(lambda: stored.list_notes(of, done.session_id))
    assert again == (note,)
    assert await client.journal_holds()


@pytest.mark.rule("W71")
async def test_markdown_has_the_notes_outputs_and_checkpoints_of_every_branch_once(
    client: WorkflowClient,
) -> None:
    start = await client.start(sessionId="B")
    first = await client.advance(start, notesMarkdown="note-a1")
    deep = await client.advance(first, notesMarkdown="note-a2", output={"kind": "plan", "text": "plan-a"})
    await client.checkpoint(deep, "checkpoint-a")
    await client.advance(first, notesMarkdown="note-a3")
    await client.advance(await client.advance(start, notesMarkdown="note-b1"), notesMarkdown="note-b2")
    end = await client.advance(start, notesMarkdown="note-c1")
    text = write_markdown(await exported(client, "B"), bundles.fold_lineage, str)
    for said in ("a1", "a2", "a3", "b1", "b2", "c1"):
        assert text.count(f"note-{said}") == 1, said
    assert text.count("checkpoint-a") == 1 and text.count("plan-a") == 1
    assert "4 branches" in text and text.count("### Branch from “one”") == 2
    assert text.count("### Branch from “two”") == 1
    assert text.count(": running") == 1 and text.count(": abandoned") == 3
    # The branch with the latest event comes first, whole.
    assert text.index("note-c1") < text.index("note-a1") and end["stateToken"]
