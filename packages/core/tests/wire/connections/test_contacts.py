"""A contact is staged, approved and saved once, whatever HubSpot and the way there do."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.support.connections.kit import Connected, connected
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import Surface

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.records import Action, Effect
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Refusal
from assent.ports import NotSent
from assent.present.outlook import Executed
from assent_conform.testing.connector_contract import check_connector, claim_action, perform_claimed
from assent_conform.testing.operator import Wanted
from assent_conform.testing.provider_server import Outcome
from assent_launch.channels.contacts import UnreadableContact, contact_text, read_contact

ADA = "E-mail: ada@example.org\nFirst name: Ada\nLast name: Lovelace\nCompany: Engines"


async def approved(workspace: Connected, body: str = ADA, **more: Any) -> ActionId:
    return await workspace.engine.approved(
        Wanted(connector="hubspot", channel="contacts", verb="save", body=body, **more)
    )


async def saved(workspace: Connected, action_id: ActionId) -> Action:
    """The action executes, and HubSpot has one contact for it."""
    reply = await workspace.engine.execute(action_id)
    assert isinstance(reply, Executed), reply
    action = await workspace.engine.action(action_id)
    assert action.external_id == reply.external_id
    return action


def created(workspace: Connected) -> list[Any]:
    return [effect.content for effect in workspace.far.hubspot.happened("contact_created")]


def updated(workspace: Connected) -> list[Any]:
    return [effect.content for effect in workspace.far.hubspot.happened("contact_updated")]


@pytest.mark.parametrize(
    "separator", ["\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\x00"]
)
def test_no_field_of_a_contact_hides_within_another(separator: str) -> None:
    with pytest.raises(UnreadableContact):
        read_contact(f"{ADA}{separator}Phone: 0900 666 666")
    with pytest.raises(UnreadableContact):
        read_contact(f"{ADA}{separator}")


async def test_an_approved_contact_is_created_once(workspace_on_any_store: Connected) -> None:
    workspace = workspace_on_any_store
    await workspace.connect("hubspot")
    action = await saved(workspace, await approved(workspace))

    assert created(workspace) == [
        {
            "id": action.external_id,
            "email": "ada@example.org",
            "firstname": "Ada",
            "lastname": "Lovelace",
            "company": "Engines",
        }
    ]
    assert action.external_url == f"https://app.hubspot.com/contacts/62515/record/0-1/{action.external_id}"
    assert not updated(workspace)


async def test_a_contact_that_is_there_is_brought_up_to_date(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    first = await saved(workspace, await approved(workspace, "E-mail: ada@example.org\nCompany: Engines"))

    second = await saved(workspace, await approved(workspace))

    assert second.external_id == first.external_id
    assert len(created(workspace)) == 1
    assert updated(workspace) == [{"id": first.external_id, "firstname": "Ada", "lastname": "Lovelace"}]


@pytest.mark.parametrize("fault", [Outcome.ERROR_AFTER, Outcome.RESET_AFTER, Outcome.GARBAGE_AFTER])
async def test_a_lost_answer_is_found_again_with_one_effect(workspace: Connected, fault: Outcome) -> None:
    await workspace.connect("hubspot")
    action_id = await approved(workspace)
    workspace.far.hubspot.plan(fault)
    lost = await workspace.engine.execute(action_id)
    assert isinstance(lost, Refusal)
    assert lost.reason == "outcome_unknown"

    await workspace.engine.reconcile()

    action = await workspace.engine.action(action_id)
    assert (action.status, action.external_id) == ("executed", created(workspace)[0]["id"])
    assert (len(created(workspace)), len(updated(workspace))) == (1, 0)


async def test_a_throttled_save_waits_as_long_as_hubspot_says(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    action_id = await approved(workspace)
    workspace.far.hubspot.plan(Outcome.REFUSE_429)

    refused = await workspace.engine.execute(action_id)

    assert isinstance(refused, Refusal)
    recovery = refused.recovery()
    assert (recovery.reason, recovery.retryable, recovery.retry_after_seconds) == ("rate_limited", True, 7)
    assert (await workspace.engine.action(action_id)).execution_state == "retryable"
    await saved(workspace, action_id)
    assert len(created(workspace)) == 1


async def test_what_was_approved_for_one_account_is_not_saved_in_another(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    action_id = await approved(workspace)
    target = (await workspace.engine.action(action_id)).effect.target
    assert target == {"accountId": "62515", "name": "Hub 62515"}
    workspace.far.hubspot.hub_id = 777
    await workspace.connect("hubspot")

    claimed = claim_action((await workspace.engine.action(action_id)).effect)
    refused = await workspace.engine.execute(action_id)

    assert isinstance(refused, Refusal)
    assert refused.reason == "requires_approval"
    here = msgspec.structs.replace(claimed, workspace_id=LOCAL_WORKSPACE)
    with pytest.raises(NotSent) as kept:
        await perform_claimed(workspace.engine.services.connectors["hubspot"], here)
    assert (kept.value.reason, kept.value.curable) == ("missing_connector", True)
    assert not created(workspace)

    changed = await workspace.engine.action(action_id)
    assert (changed.status, changed.revision) == ("awaiting_approval", 2)
    assert (changed.effect.target or {})["accountId"] == "777"
    await workspace.engine.approve(action_id)
    await saved(workspace, action_id)


async def test_an_edited_contact_is_saved_as_edited_and_nonsense_is_refused(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    action_id = await approved(workspace)
    await workspace.engine.edit(action_id, body="E-mail: grace@example.org\nFirst name: Grace")
    await workspace.engine.approve(action_id)
    await saved(workspace, action_id)
    assert created(workspace)[0]["email"] == "grace@example.org"

    nonsense = await approved(workspace, "Please save Ada.")
    refused = await workspace.engine.execute(nonsense)
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.recovery().retryable) == ("validation_error", False)
    assert len(created(workspace)) == 1


async def test_the_connector_keeps_the_contract_of_connectors(workspace: Connected) -> None:
    connection = await workspace.connect("hubspot")

    class AnyWorkspace:
        """The kit makes workspaces of its own; this connection is everybody's."""

        def __getattr__(self, name: str) -> Any:
            real = getattr(workspace.connections, name)
            if name in ("find", "access"):
                return lambda _, provider: real(connection.workspace_id, provider)
            return real

    access = workspace.access("hubspot")
    access._connections = AnyWorkspace()

    async def effects() -> int:
        return len(created(workspace))

    target = {"accountId": "62515", "name": "Hub 62515"}
    effect = Effect(channel="contacts", verb="save", connector="hubspot", body=ADA, target=target)
    await check_connector(workspace.engine.services.connectors["hubspot"], effect=effect, effects=effects)


def test_a_contact_reads_back_as_it_was_written() -> None:
    contact = {"email": "ada@example.org", "firstname": "Ada: the first", "phone": "+44 1"}
    assert read_contact(contact_text(contact)) == contact
    for wrong in (
        "",
        "First name: Ada",
        "E-mail: ada",
        "E-mail: a@b.c\nE-mail: d@e.f",
        "Hello\nE-mail: a@b.c",
    ):
        with pytest.raises(UnreadableContact):
            read_contact(wrong)


async def test_contacts_are_staged_one_action_each_and_nothing_is_saved(surface: Surface) -> None:
    await surface.sign_in()
    people = [
        {"email": "Ada@example.org", "firstName": "Ada", "jobTitle": "Analyst"},
        {"email": "g@example.org"},
    ]

    run = (await surface.call("chieflab_save_contacts", {"contacts": people})).payload

    assert run["ok"] is True
    assert [action["type"] for action in run["actions"]] == ["contacts_save", "contacts_save"]
    assert {action["executorTool"] for action in run["actions"]} == {"chieflab_execute_approved_action"}
    assert run["assets"][0]["body"] == "E-mail: ada@example.org\nFirst name: Ada\nJob title: Analyst"
    assert run["actions"][0]["preflight"]["connectorReady"] is False
    assert run["actions"][0]["preflight"]["connectorBlocker"] == "provider_not_live"
    assert "not set up on this server" in run["actions"][0]["preflight"]["connectorFixHint"]
    assert run["externalActionsExecuted"] == 0

    doubled = await surface.call("chieflab_save_contacts", {"contacts": [people[0], people[0]]})
    assert doubled.reason == "validation_error"
    sneaky = [{"email": "a@example.org", "firstName": "Ada\nE-mail: eve@example.org"}]
    assert (await surface.call("chieflab_save_contacts", {"contacts": sneaky})).reason == "validation_error"


async def test_without_a_registered_app_the_provider_is_not_live(tmp_path: Any) -> None:
    async with connected(
        new_sqlite(tmp_path / "a.db"), tmp_path, google_client_id=None, hubspot_client_id=None
    ) as workspace:
        for connector in ("ga4", "search_console", "hubspot"):
            readiness = await workspace.engine.services.connectors[connector].readiness(LOCAL_WORKSPACE)
            assert (readiness.ready, readiness.blocker) == (False, "provider_not_live")
            assert "_CLIENT_ID" not in (readiness.fix_hint or "") and readiness.summary
