"""A person's data leaves every table, the journal verifies, and no page misses it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from packages.core.tests.wire.review.test_after_deciding import refuse
from packages.core.tests.wire.review.test_people_and_approvers import two_people
from tests.support.keys import make_key
from tests.support.opened import on_own_database
from tests.support.own_sql import bind, bind_marks
from tests.support.review.kit import Server, mail, post
from tests.support.surfaces import Surface
from tests.support.workflows.kit import WorkflowClient, three_steps

from assent.app import list_components
from assent.engine.actions import actions, decisions, pictures, remainder
from assent.engine.actions.staging import PreparedRun
from assent.engine.audit import log as audit_log
from assent.engine.core import freezes, jobs, journal
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.erasure.contents import erase_old_content
from assent.engine.erasure.matching import read
from assent.engine.erasure.persons import PersonEraser
from assent.engine.erasure.places import HOLDS_NONE, PLACES
from assent.engine.people import members, targets
from assent.engine.people.people import ENTROPY_BYTES, Person, Role
from assent.engine.webhooks import subscriptions
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Action, Assurance, Media
from assent.gate.webhooks import EVENTS
from assent.kernel.canonical import digest_of_bytes
from assent.kernel.ids import ActionId, RunId
from assent.kernel.limits import DAY_MS
from assent.kernel.refusals import Refusal
from assent.kernel.times import iso_time
from assent.ports import OutcomeUnknown, Picture, Single, Transaction
from assent.stores.backups import rewrite
from assent_launch import component
from assent_launch.learning import memory

ADDRESS = "zyx.marker@example.org"
NAME = "Zyxandra Markerova"
MARKS = (ADDRESS, NAME, "zyx.marker%40example.org")
LETTER = f"Dear {NAME},\n\nyour results of Tuesday are in.\nWrite to {ADDRESS} if you need them."
BY_PERSON = "at a person's request"


class Filled(Server):
    """A server in which every kind of row names the same person."""

    agent: Surface

    async def begin(self) -> None:
        """Give the agent a key of the local workspace."""
        await self.app.prepare()
        self.agent = Surface(self.app, "stdio", self.surfaces)
        self.agent.key = await make_key(self.app, label=NAME)
        self.agent.workspace_id = LOCAL_WORKSPACE

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.agent.call(tool, arguments)
        assert not answer.is_error, (tool, answer.payload)
        return answer.payload

    async def stage_mail(self, **more: Any) -> str:
        given = {"to": ADDRESS, "subject": f"For {NAME}", "body": LETTER, **more}
        action_id: str = (await self.call("chieflab_send", **given))["actions"][0]["id"]
        return action_id

    def eraser(self, workspace_id: str = "", names: Sequence[str] = (ADDRESS.upper(), NAME)) -> PersonEraser:
        places = [
            *PLACES,
            *(
                place
                for each in list_components(self.app.settings, self.app.extensions)
                for place in each.personal
            ),
        ]
        return PersonEraser(self.services, places, names, workspace_id=workspace_id, by="cli")

    async def verify(self) -> tuple[Any, ...]:
        signer = audit_log.Signer(self.app.keys.master)
        return (await audit_log.verify(self.app.store, signer)).findings

    async def invite(self, name: str, email: str) -> str:
        now_ms, entropy = self.clock.now_ms(), self.services.entropy(ENTROPY_BYTES)
        person = Person(self.services.new_id(now_ms), name, Role.MEMBER, email)
        return await self.app.store.write(
            partial(members.invite, person, (LOCAL_WORKSPACE,), entropy, now_ms, by="cli")
        )

    async def erase_old(self) -> int:
        sign = audit_log.Signer(self.app.keys.master).sign_text
        return await erase_old_content(self.app.store, sign, 30 * DAY_MS, self.clock.now_ms())

    async def find_marks(self) -> list[str]:
        """Every table with a value that names the person, packed or not."""
        return [
            table
            for table, rows in (await self.everything()).items()
            if any(_names_person(value) for row in rows for value in row)
        ]


def _names_person(value: object) -> bool:
    text = read(value)
    return any(mark.lower() in text.lower() for mark in MARKS)


def open_server(database_url: str, folder: Path) -> Filled:
    connectors: dict[str, Any] = {}
    made = Filled(database_url, folder, connectors=connectors, workflow_dirs=(str(folder / "flows"),))
    connectors |= made.app._make_own_connectors(made.app.processes)
    connectors |= {"zernio": made.provider, "smtp": made.mailer}
    return made


server = on_own_database(open_server)


async def fill(server: Filled, folder: Path) -> dict[str, str]:
    """Put the person into every kind of row, through the tools where there are some. Returns actions by state."""
    await server.begin()
    services, now_ms = server.services, server.clock.now_ms()
    url = "https://hooks.example.org/in"
    await server.app.store.write(subscriptions.add(services, LOCAL_WORKSPACE, url, tuple(EVENTS), by=NAME))
    owner = await server.owner(name="Ada Lovelace")
    made = {
        "executed": await server.stage_mail(idempotencyKey=f"mail:{ADDRESS}"),
        "approved": await server.stage_mail(),
        "waiting": await server.stage_mail(idempotencyKey="a waiting mail"),
        "rejected": await server.stage_mail(),
    }
    await server.call("chieflab_approve_action", actionId=made["executed"])
    await server.call("chieflab_execute_approved_action", actionId=made["executed"], idempotencyKey="send")
    await server.call("chieflab_edit_action", actionId=made["approved"], body=f"{LETTER}\n\nYours, Kim")
    record = await server.call("chieflab_get_action", actionId=made["approved"])
    await server.call("chieflab_approve_action", actionId=made["approved"], digest=record["digest"])
    await server.call("chieflab_reject_action", actionId=made["rejected"], reason=f"{NAME} moved.")
    contact = {"email": ADDRESS, "firstName": "Zyxandra", "lastName": "Markerova"}
    made["contact"] = (await server.call("chieflab_save_contacts", contacts=[contact]))["actions"][0]["id"]
    story = {
        "whatChanged": f"{NAME} wrote the import.",
        "README": f"# Ledgerleaf\n\nBy {NAME} <{ADDRESS}>.\n",
    }
    drafts = {"linkedin": {"body": f"{NAME} wrote our import of bank statements."}}
    launch = await server.call(
        "chieflab_launch_product",
        goal=f"thank {NAME}",
        repoContext=story,
        channels=["linkedin"],
        drafts=drafts,
    )
    made["launch"] = launch["actions"][0]["id"]
    said = f"We thank {NAME} for the import of bank statements."
    page = await server.call("chieflab_post", channel="site", body=said, title="Thank you")
    made["page"] = page["actions"][0]["id"]
    await server.call("chieflab_approve_action", actionId=made["page"])
    await server.call("chieflab_execute_approved_action", actionId=made["page"])
    await server.call("chieflab_brain_record", kind="lesson", body=f"Never write to {ADDRESS}.")
    await server.call("chieflab_create_tenant", tenantId="club-7", name=NAME)
    await server.call("chieflab_signup_workspace", email=ADDRESS, name=NAME)
    player = WorkflowClient(server.agent, folder / "flows")
    step = await player.start(three_steps())
    await player.advance(step, notesMarkdown=f"Called {NAME}.")
    notifier = services.notifiers["email"]
    await targets.add(services, targets.TargetOwner(LOCAL_WORKSPACE), notifier, ADDRESS, by=NAME)
    token = await server.invite(NAME, ADDRESS)
    await server.browser().post(f"/sign-in/{token}", data={"name": NAME})
    await server.app.store.write(
        partial(freezes.freeze, LOCAL_WORKSPACE, now_ms, by=NAME, why=f"Ask {NAME}.")
    )
    await server.app.store.write(partial(freezes.unfreeze, LOCAL_WORKSPACE, now_ms, by=NAME))
    picture = Picture(
        content=b"\x89PNG tEXtTo\0" + ADDRESS.encode(),
        content_type="image/png",
        width=1,
        height=1,
        alt=NAME,
        digest="sha256:" + "ab" * 32,
    )
    await server.app.store.write(
        partial(pictures.keep, LOCAL_WORKSPACE, RunId(launch["runId"]), (picture,), now_ms)
    )
    await server.app.store.write(
        partial(audit_log.write_checkpoint, audit_log.Signer(server.app.keys.master), now_ms)
    )
    await owner.get("/inbox")
    return made


async def test_a_person_is_gone_from_every_table_and_the_journal_verifies(
    server: Filled, own_database_url: str, tmp_path: Path
) -> None:
    made = await fill(server, tmp_path)
    named = await server.find_marks()
    digests = {name: (await server.action(action_id)).digest for name, action_id in made.items()}
    assert await server.verify() == ()

    seen = await server.eraser().find()
    report = await server.eraser().erase()

    assert {table for table in named if not table.endswith("_words")} <= set(seen.found)
    assert report.left == ()
    assert await server.find_marks() == []
    assert await server.verify() == ()
    after = {name: await server.action(action_id) for name, action_id in made.items()}
    assert {name: action.digest for name, action in after.items()} == digests
    states = {name: action.status.value for name, action in after.items()}
    assert states == dict.fromkeys(made, "rejected") | {"executed": "executed", "page": "executed"}
    assert all(BY_PERSON in action.effect.body for action in after.values())
    assert after["executed"].external_id is not None

    again = await server.eraser().erase()
    assert again.found == {}

    await server.close()
    if await rewrite(own_database_url):
        assert find_in_files(tmp_path) == []
    restarted = open_server(own_database_url, tmp_path)
    try:
        assert await restarted.verify() == ()
        await restarted.begin()
        await look_everywhere(restarted, after["executed"].run_id, made)
    finally:
        await restarted.close()


def find_in_files(folder: Path) -> list[str]:
    """The marks that are anywhere in the data directory, used or free. An index of words has single words, each without
    what it has in common with the one before it."""
    raw = b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file()).lower()
    with closing(sqlite3.connect(folder / "assent.db")) as connection:
        index = b"".join(row[0] for row in connection.execute("SELECT block FROM search_words_data")).lower()
    assert b"andra" not in index
    return [mark for mark in MARKS if mark.lower().encode() in raw]


async def look_everywhere(server: Filled, run_id: str, made: dict[str, str]) -> None:
    """Every page and answer about an erased action says that it was erased."""
    browser = await server.owner()
    for path in (
        "/inbox",
        "/runs",
        "/audit",
        "/memory",
        "/results",
        "/operations",
        "/settings/people",
        "/sessions",
    ):
        answer = await browser.get(path)
        assert answer.status_code == 200, (path, answer.text[:500])
    assert BY_PERSON.replace("'", "&#39;") in await server.page(browser, run_id)
    for action_id in made.values():
        action = await server.action(action_id)
        assert (await browser.get(f"/runs/{action.run_id}")).status_code == 200
        record = await server.call("chieflab_get_action", actionId=action_id)
        assert BY_PERSON in str(record)
        await server.call("chieflab_get_run", runId=action.run_id)
    await server.call("chieflab_list_runs")
    await server.call("chieflab_brain_read")
    await server.call("chieflab_query_audit", runId=run_id)


async def test_an_erased_action_is_never_sent(server: Filled) -> None:
    await server.begin()
    approved = await server.stage_mail()
    await server.call("chieflab_approve_action", actionId=approved)

    report = await server.eraser().erase()
    refused = await server.agent.call("chieflab_execute_approved_action", {"actionId": approved})

    assert report.rejected == 1
    assert refused.reason == "requires_approval"
    assert server.mailer.done == []


async def test_the_notice_of_an_erased_action_that_failed_is_never_offered_for_sending(
    server: Filled,
) -> None:
    await server.begin()
    run = await server.stage(post(body=f"We thank {NAME} for the import."))
    failed, owner = ActionId(run.actions[0].id), await server.owner()
    server.provider.then = refuse
    await server.decide(owner, run.run_id, failed, "approve", then="send")
    for _ in range(5):
        await server.run_jobs()
    offered = await server.page(owner, run.run_id)

    await server.eraser().erase()

    decider = Decider(LOCAL_WORKSPACE, "Kim", Assurance.PERSON, "page")
    with pytest.raises(Refusal) as refused:
        await server.app.store.write(partial(remainder.stage_again, decider, failed, server.clock.now_ms()))
    assert refused.value.reason == "stale_revision"
    assert "Try again" in offered and "Try again" not in await server.page(owner, run.run_id)


async def test_what_an_erased_person_approved_waits_again(server: Filled) -> None:
    await server.begin()
    action_id = await server.stage_mail(to="kim@example.org", subject="Hello", body="Your invoice is ready.")
    seen = SeenVersion(digest=(await server.action(action_id)).digest)
    decider = Decider(LOCAL_WORKSPACE, NAME, Assurance.PERSON, "page")
    approve = partial(decisions.approve, decider, ActionId(action_id), seen)
    await server.app.store.write(partial(approve, server.clock.now_ms(), seals=server.app.keys.seals))
    approved = await server.action(action_id)

    await server.eraser().erase()

    waiting = await server.action(action_id)
    assert approved.approval is not None and NAME in approved.approval.by
    assert (waiting.status, waiting.effect) == ("awaiting_approval", approved.effect)
    assert await server.verify() == ()


async def test_what_two_approved_is_not_remembered_as_approved_once_one_of_them_is_erased(
    server: Filled,
) -> None:
    await server.begin()
    await two_people(server)
    action = await server.action((await server.stage(mail(60))).actions[0].id)
    seen = SeenVersion(digest=action.digest)
    for name in (NAME, "Kim"):
        decider = Decider(LOCAL_WORKSPACE, name, Assurance.PERSON, "page")
        approve = partial(decisions.approve, decider, action.action_id, seen)
        await server.app.store.write(partial(approve, server.clock.now_ms(), seals=server.app.keys.seals))
    find = partial(memory.read, LOCAL_WORKSPACE, memory.DEFAULT_TENANT, most=5)
    before = await server.app.store.read(find)

    await server.eraser().erase()

    assert [each.kind for each in before] == ["approval"]
    assert (await server.action(action.action_id)).status == "awaiting_approval"
    assert await server.app.store.read(find) == []


async def test_the_address_beside_a_name_is_erased_with_it(server: Filled) -> None:
    await server.begin()
    browser = server.browser()
    assert (await browser.post(f"/sign-in/{await server.invite(NAME, ADDRESS)}")).status_code == 303
    run = await server.stage(post())
    await server.decide(browser, run.run_id, run.actions[0].id, "approve")
    assert "action_approvals" not in await server.find_marks() and "events" in await server.find_marks()

    await server.eraser(names=(NAME,)).erase()

    assert await server.find_marks() == []
    assert await server.verify() == ()


def lose(action: Action) -> Any:
    raise OutcomeUnknown("the connection broke")


async def test_the_journal_verifies_after_every_step_of_an_erasure(server: Filled) -> None:
    """What she approved was sent, waits to be sent, or has an unknown outcome, which keeps her name for now."""
    await server.begin()
    decider = Decider(LOCAL_WORKSPACE, NAME, Assurance.PERSON, "page")
    later = server.clock.now_ms() + 60_000
    made: list[str] = []
    for number in range(4):
        body = f"{LETTER} {number}" if number == 3 else f"Your invoice {number} is ready."
        when = {"scheduleFor": iso_time(later)} if number == 3 else {}
        made.append(
            await server.stage_mail(to="kim@example.org", subject=f"Hello {number}", body=body, **when)
        )
        seen = SeenVersion(digest=(await server.action(made[-1])).digest)
        approve = partial(decisions.approve, decider, ActionId(made[-1]), seen)
        await server.app.store.write(partial(approve, server.clock.now_ms(), seals=server.app.keys.seals))
    server.clock.advance(hours=1)
    for action_id in (made[0], made[3]):
        await server.call("chieflab_execute_approved_action", actionId=action_id)
    server.mailer.then = lose
    await server.agent.call("chieflab_execute_approved_action", {"actionId": made[2]})
    assert [(await server.action(each)).status for each in made] == [
        "executed",
        "approved",
        "approved",
        "executed",
    ]
    assert await server.verify() == ()
    eraser = server.eraser()

    class Watched:
        """The store of the eraser. After every write the journal is verified."""

        writes = 0
        read = staticmethod(server.app.store.read)

        async def write(self, begin: Any) -> Any:
            done = await server.app.store.write(begin)
            self.writes += 1
            assert await server.verify() == ()
            return done

    watched: Any = Watched()
    eraser._store = watched
    await eraser.erase()

    approvals = [(await server.action(each)).approval for each in made]
    assert [each and each.by for each in approvals] == ["erased", None, NAME, "erased"]
    assert watched.writes > 5


async def test_other_people_and_other_workspaces_keep_their_data(server: Filled) -> None:
    await server.begin()
    other = await server.stage_mail(
        to="zyx.marker@example.organic", subject="Hello", body="Your invoice is ready."
    )
    mine = await server.stage_mail()
    await server.call("chieflab_approve_action", actionId=other)
    elsewhere = await server.eraser("a workspace that does not exist").erase()

    await server.eraser().erase()
    # The server writes this word itself, in approvals too.
    await server.eraser(names=["agent"]).erase()

    assert await server.verify() == ()
    assert elsewhere.found == {}
    kept = await server.action(other)
    assert (kept.status, kept.effect.recipients) == ("approved", ("zyx.marker@example.organic",))
    assert (await server.action(mine)).effect.recipients == ()


async def test_a_namesake_keeps_their_access(server: Filled) -> None:
    await server.begin()
    for name, email in (("Ada Byron", "byron@example.net"), ("Ada Lovelace", "ada@example.org")):
        await server.invite(name, email)

    report = await server.eraser(names=["ada@example.org", "Ada"]).erase()

    found = bind_marks("SELECT name, ended_ms IS NULL AS present FROM people ORDER BY name")
    rows = await server.app.store.read(Single(found))
    assert [(row["name"], bool(row["present"])) for row in rows] == [("Ada Byron", True), ("erased", False)]
    assert [(each.what, each.rows) for each in report.left] == [("people", 1)]


async def test_work_that_failed_with_their_address_is_still_done(server: Filled) -> None:
    await server.begin()
    now_ms = server.clock.now_ms()
    enqueue = partial(jobs.enqueue, LOCAL_WORKSPACE, "look_again", "1", {}, due_ms=now_ms, now_ms=now_ms)
    await server.app.store.write(enqueue)
    said = "UPDATE jobs SET last_error = ? WHERE kind = 'look_again'"
    await server.app.store.write(Single(bind_marks(said, f"550 {ADDRESS} is unknown")))

    await server.eraser().erase()

    found = "SELECT last_error FROM jobs WHERE kind = 'look_again'"
    rows = await server.app.store.read(Single(bind_marks(found)))
    assert [row["last_error"] for row in rows] == ["erased"]


async def test_every_column_that_can_hold_a_person_is_described(server: Filled) -> None:
    await server.begin()
    places = server.eraser()._places
    known = {f"{place.table}.{name}" for place in places for name in (*place.columns, *place.key)}
    known |= {column for columns in HOLDS_NONE | component.HOLDS_NONE for column in columns.split()}

    found = await server.app.store.read(partial(list_text_columns, server.app.store.dialect))

    own = [each for each in found if not each.endswith("_id") and not each.startswith(OTHER_TABLES)]
    assert sorted(set(own) - known) == []


OTHER_TABLES = ("wrap_",)
"""Tables of components that declare no place: definitions of tools."""


def list_text_columns(dialect: str) -> Transaction[list[str]]:
    sqlite = (
        "SELECT m.name || '.' || c.name AS name FROM sqlite_master m, pragma_table_info(m.name) c "
        "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND c.type NOT IN ('INTEGER', 'BIGINT')"
    )
    postgres = (
        "SELECT table_name || '.' || column_name AS name FROM information_schema.columns "
        "WHERE table_schema = 'public' AND data_type NOT IN ('bigint', 'integer', 'smallint', 'boolean')"
    )
    rows: Any = yield bind(sqlite, postgres)
    return [row["name"] for row in rows]


async def test_a_replaced_event_without_the_signature_of_the_server_is_found(server: Filled) -> None:
    await server.begin()
    action = await server.action(await server.stage_mail())
    await server.eraser().erase()

    def forge() -> Transaction[None]:
        sign = lambda text: ("AAAA", "AAAA")  # noqa: E731
        head = yield from journal.lock_head(LOCAL_WORKSPACE, action.run_id, server.clock.now_ms())
        yield from journal.erase_bodies(head, {1: '{"forged":true}'}, {}, sign, server.clock.now_ms())

    assert await server.verify() == ()
    await server.app.store.write(forge)

    assert [(each.what, each.seq) for each in await server.verify()] == [
        ("event altered", 1),
        (f"action {action.action_id} was never staged", None),
    ]


async def test_an_alteration_stays_found_although_an_event_calls_it_an_erasure(server: Filled) -> None:
    await server.begin()
    action = await server.action(
        await server.stage_mail(to="kim@example.org", subject="Hello", body="Ready.")
    )
    now_ms = server.clock.now_ms()

    def alter_content() -> Transaction[None]:
        effect = msgspec.structs.replace(action.effect, body="Another body.")
        changed = yield from actions.put_without_event(msgspec.structs.replace(action, effect=effect))
        digests = {"effect": effect.digest(), "view": action.view.digest()}
        yield from actions.note(changed, "content_erased", {**digests, "by": "cli"}, now_ms)

    def alter_event() -> Transaction[None]:
        """Alter the first event, and let the next erasure of a person sign it."""
        head = yield from journal.lock_head(LOCAL_WORKSPACE, action.run_id, now_ms)
        body = f'{{"forged":"{ADDRESS}"}}'
        yield from journal.erase_bodies(head, {1: body}, {}, lambda text: ("AAAA", "AAAA"), now_ms)

    await server.app.store.write(alter_content)
    content = await server.verify()
    await server.app.store.write(alter_event)
    await server.eraser().erase()

    assert ["its content is not what its digest was made from" in each.what for each in content] == [True]
    assert [(each.what, each.seq) for each in await server.verify()] == [
        ("event altered", 1),
        (f"action {action.action_id} was never staged", None),
    ]


@pytest.mark.parametrize("stops", ["_erase_sessions", "_erase_actions"])
async def test_an_erasure_that_is_interrupted_is_finished_by_the_next(
    server: Filled, monkeypatch: pytest.MonkeyPatch, stops: str
) -> None:
    await server.begin()
    body = "The results of your examination on Tuesday are in."
    action_id = await server.stage_mail(body=body, subject="Your results", idempotencyKey="once")

    async def stop(self: PersonEraser, *found: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(PersonEraser, stops, stop)
        await server.eraser().erase()
    await server.eraser().erase()

    kept = [
        table
        for table, rows in (await server.everything()).items()
        if any(body in read(value) for row in rows for value in row)
    ]
    assert kept == []
    assert (await server.action(action_id)).status == "rejected"


async def test_old_content_is_erased_daily_and_what_waits_stays(server: Filled) -> None:
    await server.begin()
    sent, waiting, late = [await server.stage_mail() for _ in range(3)]
    await server.call("chieflab_approve_action", actionId=sent)
    await server.call("chieflab_execute_approved_action", actionId=sent)
    server.clock.advance(days=29)
    first = await server.erase_old()
    await server.call("chieflab_reject_action", actionId=late, reason="Too late.")
    server.clock.advance(days=2)

    counts = [await server.erase_old() for _ in range(2)]

    action = await server.action(sent)
    assert (first, counts) == (0, [1, 0])
    assert (action.status, action.effect.recipients) == ("executed", ())
    for each in (waiting, late):
        assert (await server.action(each)).effect.recipients == (ADDRESS,)
    assert await server.verify() == ()
    assert (await (await server.owner()).get(f"/runs/{action.run_id}")).status_code == 200


async def stage_picture(server: Filled, content: bytes) -> tuple[PreparedRun, str]:
    """Stage and approve a post with a picture. Returns its run and the digest of the picture."""
    await server.begin()
    digest = digest_of_bytes(content)
    media = Media(kind="image", url="https://example.org/a.png", digest=digest)
    run = await server.stage(post(media=(media,)))
    picture = Picture(content=content, content_type="image/png", width=1, height=1, alt="Leaf", digest=digest)
    keep = partial(pictures.keep, LOCAL_WORKSPACE, RunId(run.run_id), (picture,), server.clock.now_ms())
    await server.app.store.write(keep)
    await server.decide(await server.owner(), run.run_id, run.actions[0].id, "approve")
    return run, digest


async def test_an_approved_post_is_rejected_if_its_picture_names_the_person(server: Filled) -> None:
    run, digest = await stage_picture(server, b"\x89PNG tEXtTo\0" + ADDRESS.encode())

    report = await server.eraser().erase()

    assert (report.rejected, (await server.action(run.actions[0].id)).status) == (1, "rejected")
    assert await server.app.store.read(partial(pictures.find, LOCAL_WORKSPACE, digest)) is None
    assert await server.verify() == ()


async def test_the_picture_of_a_published_page_stays_when_the_content_is_old(server: Filled) -> None:
    run, digest = await stage_picture(server, b"\x89PNG")
    await server.call("chieflab_execute_approved_action", actionId=run.actions[0].id)
    server.clock.advance(days=29)
    await server.erase_old()
    server.clock.advance(days=2)

    erased = await server.erase_old()

    assert (erased, (await server.action(run.actions[0].id)).status) == (1, "executed")
    assert await server.app.store.read(partial(pictures.find, LOCAL_WORKSPACE, digest)) is not None


async def test_a_clock_that_is_a_year_ahead_for_a_moment_erases_no_year(server: Filled) -> None:
    await server.begin()
    await server.call("chieflab_reject_action", actionId=await server.stage_mail(), reason="No.")
    await server.erase_old()
    server.clock.advance(days=365)

    counts = [await server.erase_old() for _ in range(5)]

    assert counts == [0, 0, 0, 0, 1]
