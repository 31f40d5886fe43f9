"""The names that people decide under: no one takes another's, and the address stands beside them."""

from __future__ import annotations

import asyncio
import json
import os
from functools import partial

import msgspec
import pytest
from tests.support.keyed_browser import KeyedBrowser
from tests.support.review.kit import Server, forms, mail, post

from assent.engine.core.tenancy import LOCAL_WORKSPACE, create_workspace
from assent.engine.people import members, oidc, people
from assent.engine.people.people import NamedBy, Person, Role
from assent.gate.names import is_taken
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Refusal

pytestmark = pytest.mark.own_database

ADA = "Ada Lovelace"
ADDRESS = "ada@example.org"
LABEL = f"{ADA} <{ADDRESS}>"
LIKE_ADA = (
    "Ada Lovelace",
    "ADA  LOVELACE",
    "ada-lovelace",
    "Аda Lоvelace",
    "Ａｄａ Ｌｏｖｅｌａｃｅ",
    "Adá Lovelace",
    "ada@example.org",
    "Ada Lovelace (ada@example.org)",
    "The owner",
)
"""Case, blanks, marks, Cyrillic letters, wide letters, accents, the address, and a role."""


@pytest.fixture
def server(server_on_any_store: Server) -> Server:
    return server_on_any_store


async def invite(
    server: Server,
    name: str,
    email: str | None = None,
    by: NamedBy = NamedBy.SELF,
    place: WorkspaceId = LOCAL_WORKSPACE,
) -> str:
    """Invite a person. Returns the path of their sign-in link."""
    await server.app.prepare()
    now_ms = server.clock.now_ms()
    person = Person(server.services.new_id(now_ms), name, Role.MEMBER, email, named_by=by)
    entropy = os.urandom(people.ENTROPY_BYTES)
    token = await server.app.store.write(
        lambda: members.invite(person, (place,), entropy, now_ms, by="terminal")
    )
    return f"/sign-in/{token}"


async def sign_in(server: Server, path: str, name: str = "") -> KeyedBrowser:
    browser = server.browser()
    answer = await browser.post(path, data={"name": name} if name else {})
    assert answer.status_code == 303, answer.text
    return browser


async def list_names(server: Server) -> list[str]:
    now_ms = server.clock.now_ms()
    listed = await server.app.store.read(lambda: members.list_people(now_ms))
    return sorted(each.person.name for each in listed)


@pytest.mark.parametrize("name", LIKE_ADA)
async def test_no_one_signs_in_under_a_name_that_reads_like_another_members(
    server: Server, name: str
) -> None:
    await sign_in(server, await invite(server, ADA, ADDRESS))
    path, browser = await invite(server, "Sal"), server.browser()

    refused = await browser.post(path, data={"name": name})

    assert refused.status_code == 409
    assert "set-cookie" not in refused.headers
    assert await list_names(server) == [ADA, "Sal"]
    assert (await browser.post(path, data={"name": "Sal Sales"})).status_code == 303


@pytest.mark.parametrize(
    "name", ["Eve\u200bX", "Eve\u3164X", "\u202eEve", "Eve <ada@example.org>", "Eve <x>"]
)
def test_no_name_hides_a_character_or_has_an_address_in_brackets(name: str) -> None:
    assert is_taken(name, [])


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("lan Smith", "Ian Smith"),
        ("AI Gore", "Al Gore"),
        ("Ada Love|ace", ADA),
        ("Ada Love1ace", ADA),
        ("\u0406an Smith", "lan Smith"),
        ("Adm|n", "Sal"),
    ],
    ids=ascii,
)
def test_a_large_i_a_small_l_and_a_bar_are_one_letter(name: str, known: str) -> None:
    assert is_taken(name, [(known, None)])


@pytest.mark.parametrize(
    "name",
    ["\u13aada Lovelace", "Ada L\u0585velace", "Ada L\u1d0fvelace", "Ada \u0141ovelace", "\ua4eedmin"],
    ids=ascii,
)
def test_a_letter_of_another_script_beside_latin_ones_may_be_any_letter(name: str) -> None:
    assert is_taken(name, [(ADA, ADDRESS)])


def test_the_name_of_no_one_else_is_free() -> None:
    known = [(ADA, ADDRESS), ("Олег", None), ("李华", None)]
    free = ("Ada", "Grace Hopper", "Ada L. Byron", "李", "李明", "Owen", "Ольга", "Ада Лавлейс", "Łukasz")
    assert not any(is_taken(name, known) for name in free)


async def test_a_member_of_another_workspace_may_have_the_same_name_and_an_owner_may_not(
    server: Server,
) -> None:
    await invite(server, ADA, ADDRESS)
    now_ms = server.clock.now_ms()
    elsewhere = WorkspaceId(server.services.new_id(now_ms))
    await server.app.store.write(lambda: create_workspace(elsewhere, "Elsewhere", now_ms, by="test"))

    await invite(server, ADA, place=elsewhere)

    owner = await server.owner()
    [shown] = [
        each for each in forms((await owner.get("/settings")).text) if each.address == "/settings/name"
    ]
    refused = await owner.post("/settings/name", data={**shown.fields, "name": "ada lovelace"})
    assert refused.status_code == 409
    assert await list_names(server) == [ADA, ADA, "owner"]


@pytest.mark.parametrize("name", [ADA, "ada lovelace", "administrator"])
async def test_no_one_is_invited_under_the_name_of_another_member(server: Server, name: str) -> None:
    await invite(server, ADA, ADDRESS)
    owner = await server.owner()
    shown = [each for each in forms((await owner.get("/settings/people")).text) if "name" in each.fields][-1]
    fields = {**shown.fields, "name": name, "email": "sal@example.org", "role": "owner"}

    answer = await owner.post("/settings/people", data=fields)

    assert answer.status_code == 409
    assert await list_names(server) == [ADA, "owner"]


@pytest.mark.parametrize("by", [NamedBy.FILE, NamedBy.ISSUER])
async def test_a_name_from_a_file_or_an_issuer_cannot_be_typed(server: Server, by: NamedBy) -> None:
    path = await invite(server, ADA, ADDRESS, by)
    page = (await server.browser().get(path)).text
    assert 'name="name"' not in page and "Ada Lovelace &lt;ada@example.org&gt;" in page

    browser = await sign_in(server, path, "Grace Hopper")

    shown = (await browser.get("/settings")).text
    nonce = next(each.fields["nonce"] for each in forms(shown) if each.address == "/settings/zone")
    assert 'action="/settings/name"' in shown and 'name="name"' not in shown
    refused = await browser.post("/settings/name", data={"nonce": nonce, "name": "Grace Hopper"})
    assert refused.status_code == 409
    assert await list_names(server) == [ADA]


async def test_people_of_one_name_come_from_a_file_if_their_addresses_differ(server: Server) -> None:
    await invite(server, ADA, ADDRESS, NamedBy.FILE)
    await invite(server, ADA, "ada.l@example.org", NamedBy.FILE)

    for email in (None, ADDRESS.upper()):
        with pytest.raises(Refusal) as refused:
            await invite(server, ADA, email, NamedBy.FILE)
        assert refused.value.reason == "name_taken"
    assert await list_names(server) == [ADA, ADA]


async def open_elsewhere(server: Server) -> WorkspaceId:
    """Open a second workspace."""
    await server.app.prepare()
    now_ms = server.clock.now_ms()
    elsewhere = WorkspaceId(server.services.new_id(now_ms))
    await server.app.store.write(lambda: create_workspace(elsewhere, "Elsewhere", now_ms, by="test"))
    return elsewhere


@pytest.mark.parametrize("role", [Role.MEMBER, Role.OWNER])
async def test_no_one_moves_under_the_name_of_another_member(server: Server, role: Role) -> None:
    await invite(server, ADA, by=NamedBy.FILE)
    elsewhere = await open_elsewhere(server)
    now_ms = server.clock.now_ms()
    namesake = Person("namesake", ADA, Role.MEMBER, named_by=NamedBy.FILE)
    await server.app.store.write(lambda: members.add(namesake, (elsewhere,), now_ms, by="test"))

    moved = msgspec.structs.replace(namesake, role=role)
    with pytest.raises(Refusal) as refused:
        await server.app.store.write(
            lambda: members.change(moved, (LOCAL_WORKSPACE, elsewhere), now_ms, by="test")
        )

    assert refused.value.reason == "name_taken"
    kept = await server.app.store.read(lambda: members.list_member_workspaces(namesake))
    assert [each.workspace_id for each in kept] == [elsewhere]
    addressed = msgspec.structs.replace(moved, email="ada.l@example.org")
    assert await server.app.store.write(
        lambda: members.change(addressed, (LOCAL_WORKSPACE,), now_ms, by="test")
    )


@pytest.mark.parametrize("role", [Role.MEMBER, Role.OWNER])
async def test_whom_an_issuer_moves_beside_a_namesake_the_subject_tells_apart(
    server: Server, role: Role
) -> None:
    elsewhere = await open_elsewhere(server)

    async def come(subject: str, place: WorkspaceId, role: Role = Role.MEMBER) -> None:
        who = oidc.IdentifiedPerson(
            issuer="https://issuer.example",
            subject=subject,
            name=ADA,
            email=None,
            role=role,
            workspaces=(place,),
        )
        entropy = os.urandom(people.ENTROPY_BYTES)
        await server.app.store.write(
            lambda: oidc.admit(who, f"person of {subject}", entropy, server.clock.now_ms())
        )

    await come("ada", LOCAL_WORKSPACE)
    await come("eve", elsewhere)
    assert await list_names(server) == [ADA, ADA]

    for _ in range(2):
        await come("eve", LOCAL_WORKSPACE, role)
        assert await list_names(server) == [ADA, f"{ADA} (eve)"]
        eve = await server.app.store.read(lambda: members.find("person of eve"))
        assert eve is not None and (eve.name, eve.role) == (f"{ADA} (eve)", role)


async def test_the_address_stands_beside_the_name_of_an_approver_everywhere(server: Server) -> None:
    run = await server.stage(post(), mail(60))
    ada = await sign_in(server, await invite(server, ADA, ADDRESS))
    assert "Ada Lovelace &lt;ada@example.org&gt;" in await server.page(ada, run.run_id)

    for action in run.actions:
        assert (await server.decide(ada, run.run_id, action.id, "approve")).status_code == 303

    stored = await server.action(run.actions[0].id)
    assert stored.approval is not None and stored.approval.by == LABEL
    approvals = [facts for kind, facts in await server.events(run.run_id) if kind == "action_approve"]
    assert [facts["by"] for facts in approvals] == [LABEL, LABEL]
    assert "Approved by Ada Lovelace &lt;ada@example.org&gt; (signed in)" in await server.page(
        ada, run.run_id
    )
    assert "Ada Lovelace &lt;ada@example.org&gt;" in (await ada.get("/audit")).text
    lines = (await ada.get("/audit/export")).text.splitlines()
    exported = [json.loads(line) for line in lines]
    found = [each["body"]["by"] for each in exported if each.get("kind") == "action_approve"]
    assert found == [LABEL, LABEL]
    owner = await server.owner()
    assert ADDRESS in (await owner.get("/settings/people")).text


async def test_an_address_that_no_one_vouches_for_does_not_stand_beside_a_name(server: Server) -> None:
    await server.app.prepare()
    now_ms, entropy = server.clock.now_ms(), os.urandom(people.ENTROPY_BYTES)
    eve = Person("eve", "Eve", Role.MEMBER, ADDRESS)
    claim = partial(members.join_by_claim, LOCAL_WORKSPACE, eve, entropy, now_ms, device="a browser")
    await server.app.store.write(claim)

    found = await server.app.store.read(lambda: members.find("eve"))

    assert found is not None and (found.email, found.label) == (ADDRESS, "Eve")


async def test_of_two_who_choose_one_name_at_the_same_time_one_gets_it(server: Server) -> None:
    paths = [await invite(server, f"Guest {number}") for number in range(4)]

    answers = await asyncio.gather(*(server.browser().post(path, data={"name": ADA}) for path in paths))

    assert sorted(answer.status_code for answer in answers) == [303, 409, 409, 409]
