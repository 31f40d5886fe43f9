"""`hubspot`: creates an approved contact, or updates the contact with the same e-mail address.

HubSpot keeps one contact per address, so the address is the natural key: a repetition is answered
with 409 and the id of the existing contact. That contact is read, and updated only if it differs
from the approved one. A repetition of our own therefore changes nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec

from assent import Context, Effect, NotConnected, NotSent, OutcomeUnknown
from assent.platform import (
    Account,
    Connector,
    Delivered,
    Delivery,
    Exchanged,
    Grantor,
    NoLookUp,
    OAuthAccess,
    Readiness,
    action_of,
)
from assent.sdk import Reason, WorkspaceId, is_here
from assent_launch.channels.contacts import FIELDS, INFO, UnreadableContact, read_contact

if TYPE_CHECKING:
    from assent_launch.channels.factory import ConnectorParts

HUBSPOT: Final = Grantor(
    id="hubspot",
    label="HubSpot",
    pages="https://app.hubspot.com",
    interface="https://api.hubapi.com",
    authorize_path="/oauth/authorize",
    token_path="/oauth/v3/token",  # noqa: S106 - an address
    revoke_path=None,
    extra={},
    client_id_setting="ASSENT_HUBSPOT_CLIENT_ID",
    client_secret_setting="ASSENT_HUBSPOT_CLIENT_SECRET",  # noqa: S106 - a name
    permissions="HubSpot under Settings, Integrations, Connected apps",
    ended=frozenset({"BAD_REFRESH_TOKEN", "BAD_AUTH_CODE"}),
    implied=frozenset({"oauth"}),
    account_field="hub_id",
)

CONTACTS: Final = "/crm/v3/objects/contacts"
PATIENCE: Final = 0.3
"""Share of the timeout for one request; a save needs at most three."""

OTHER_ACCOUNT: Final = "Another HubSpot account is connected than the one this was approved for."

_EXISTING: Final = re.compile(r"Existing ID:\s*(\d{1,20})")


class HubSpotConnector(NoLookUp):
    info = INFO
    id = INFO.id
    delivery = Delivery("natural_key")
    scopes = ("oauth", "crm.objects.contacts.read", "crm.objects.contacts.write")
    no_look_up = "a contact is not asked about, it is saved again"

    def __init__(self, access: OAuthAccess, url: str) -> None:
        self.access = access
        self._url, self.emulated = url + CONTACTS, is_here(url)

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return await self.access.readiness(workspace_id)

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """Set the account that is connected at staging as the target."""
        account = await self._account(workspace_id)
        if account is not None and effect.account_id == account.id:
            return effect
        target = {"accountId": account.id, "name": account.name} if account is not None else None
        return msgspec.structs.replace(effect, target=target)

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        readiness = await self.readiness(workspace_id)
        account = await self._account(workspace_id)
        if not readiness.ready or account is None or effect.account_id == account.id:
            return readiness
        return Readiness.of_another_account(INFO.label, effect)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action = action_of(ctx, effect)
        try:
            wanted = read_contact(action.effect.body)
        except UnreadableContact as unreadable:
            raise NotSent(str(unreadable), reason=Reason.VALIDATION_ERROR) from None
        account = await self._account(action.workspace_id)
        if account is not None and account.id != action.effect.account_id:
            raise NotConnected(OTHER_ACCOUNT)
        seconds = ctx.timeout_seconds * PATIENCE
        made = await self._ask(action.workspace_id, "POST", "", seconds, {"properties": wanted})
        if made.status != 409:
            return _read_saved(made, "created")
        return await self._update(action.workspace_id, made, wanted, seconds)

    async def _update(
        self, workspace_id: WorkspaceId, refused: Exchanged, wanted: dict[str, str], seconds: float
    ) -> Delivered:
        named = _EXISTING.search(str(refused.at("message")))
        asked = f"properties={','.join(FIELDS.values())}"
        where = (
            f"/{named.group(1)}?{asked}"
            if named
            else f"/{quote(wanted['email'], safe='')}?idProperty=email&{asked}"
        )
        try:
            there = await self._ask(workspace_id, "GET", where, seconds)
        except OutcomeUnknown as unknown:
            # Reading has no effect, and the creation was refused.
            raise NotSent(str(unknown), retry=True) from unknown
        known = there.at("properties")
        if not there.ok or not isinstance(known, dict):
            raise NotSent(f"the contact that is there cannot be read (HTTP {there.status})", retry=True)
        missing = {name: value for name, value in wanted.items() if known.get(name) != value}
        if not missing:
            return _read_saved(there, "there")
        number = str(there.at("id"))
        changed = await self._ask(
            workspace_id, "PATCH", f"/{quote(number)}", seconds, {"properties": missing}
        )
        return _read_saved(changed, "updated")

    async def _ask(
        self, workspace_id: WorkspaceId, method: str, where: str, seconds: float, body: Any = None
    ) -> Exchanged:
        return await self.access.call(
            workspace_id, method, self._url + where, body=body, timeout_seconds=seconds
        )

    async def _account(self, workspace_id: WorkspaceId) -> Account | None:
        connection = await self.access.connection(workspace_id)
        usable = connection.accounts if connection is not None and connection.live else ()
        return next((each for each in usable if each.chosen), None)


def _read_saved(answer: Exchanged, how: str) -> Delivered:
    if not answer.ok:
        raise answer.fail(str(answer.at("message") or ""))
    number, url = answer.text("id"), answer.text("url")
    if not number:
        raise OutcomeUnknown("a success that names no contact")
    return Delivered(number, url if url.startswith("https://") else None, {"contact": how})


def make_connectors(parts: ConnectorParts) -> tuple[Connector, ...]:
    settings = parts.settings
    client = (settings["hubspot_client_id"], settings["hubspot_client_secret"])
    url = settings["hubspot_url"]
    access = OAuthAccess.make(parts.services, INFO, HUBSPOT, HubSpotConnector.scopes, client, url)
    return (HubSpotConnector(access, url),)
