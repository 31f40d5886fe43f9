"""The tool that stages contacts, which HubSpot gets once a person approved each (E9, E11)."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from assent import Effect
from assent.sdk import (
    EXECUTE,
    WRITES,
    Arguments,
    Call,
    Draft,
    IdempotencyKey,
    Preparation,
    PreparedRun,
    Request,
    StagedEffect,
    SuggestedCall,
    TenantId,
    TenantIdArgument,
    Tool,
    bad_argument,
    prepare_run,
    require_line,
)
from assent_launch.channels.contacts import CHANNEL_ID, FIELDS, MAX_VALUE_CHARS, contact_text
from assent_launch.operators import EMAIL
from assent_launch.tools.requests import is_mailbox

CONNECTOR: Final = "hubspot"

IF_THERE: Final = "If HubSpot has a contact with this e-mail address, these lines overwrite its fields."


def prepare_contacts(contacts: tuple[dict[str, str], ...]) -> Preparation:
    drafts, effects = [], []
    for index, contact in enumerate(contacts):
        body = contact_text(contact)
        name = " ".join(filter(None, (contact.get("firstname"), contact.get("lastname")))) or contact["email"]
        drafts.append(Draft(type="contact", title=name, body=body, channel=CHANNEL_ID))
        effect = Effect(channel=CHANNEL_ID, verb="save", connector=CONNECTOR, title=name, body=body)
        effects.append(
            StagedEffect(effect=effect, executor_tool=EXECUTE, draft=index, recommendations=(IF_THERE,))
        )
    return Preparation(
        drafts=tuple(drafts),
        effects=tuple(effects),
        outputs={"contacts": [each["email"] for each in contacts]},
    )


MAX_CONTACTS = 20
"""The most contacts per call: each is an action that a person reads."""

Value = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_VALUE_CHARS)]


class Contact(Arguments, kw_only=True):
    email: Annotated[str, msgspec.Meta(min_length=3, max_length=254, description="Identifies the contact.")]
    first_name: Value | None = None
    last_name: Value | None = None
    company: Value | None = None
    job_title: Value | None = None
    phone: Value | None = None
    website: Value | None = None


class SaveContacts(Arguments, kw_only=True):
    contacts: Annotated[tuple[Contact, ...], msgspec.Meta(min_length=1, max_length=MAX_CONTACTS)]
    tenant_id: TenantIdArgument | None = None
    idempotency_key: IdempotencyKey | None = None


async def save_contacts(call: Call, request: SaveContacts) -> PreparedRun:
    wanted = tuple(_fields(index, contact) for index, contact in enumerate(request.contacts))
    doubled = [
        index
        for index, each in enumerate(wanted)
        if any(each["email"] == earlier["email"] for earlier in wanted[:index])
    ]
    if doubled:
        twice = repr(wanted[doubled[0]]["email"])
        raise bad_argument(f"contacts.{doubled[0]}.email", "an address of its own", twice)
    preparation = prepare_contacts(wanted)
    inputs = msgspec.to_builtins(request)
    inputs.pop("idempotencyKey", None)
    return await prepare_run(
        call.services,
        Request(
            principal=call.caller,
            operator=EMAIL.id,
            tool="chieflab_save_contacts",
            inputs=inputs,
            tenant_id=TenantId(request.tenant_id) if request.tenant_id is not None else None,
            key=request.idempotency_key,
        ),
        msgspec.structs.replace(preparation, next_calls=NEXT),
        PreparedRun,
    )


def _fields(index: int, contact: Contact) -> dict[str, str]:
    if not is_mailbox(contact.email) or "<" in contact.email:
        expected = "an e-mail address such as ada@example.org"
        raise bad_argument(f"contacts.{index}.email", expected, repr(contact.email[:80]))
    given = {name.replace("_", ""): getattr(contact, name) for name in contact.__struct_fields__}
    return {
        name: require_line(f"contacts.{index}.{name}", value).strip()
        for name, value in {**given, "email": contact.email.strip().lower()}.items()
        if name in FIELDS.values() and value
    }


NEXT = (SuggestedCall("chieflab_connect_provider", {"provider": "hubspot"}, "HubSpot is not connected"),)

TOOLS = (
    Tool(
        name="chieflab_save_contacts",
        title="Prepare contacts",
        description="Prepares contacts for the user's CRM (HubSpot), each staged for approval; nothing is saved by "
        "this call. USE WHEN the user wants to add or save people as contacts. An existing contact is updated.",
        behaviour=WRITES,
        request=SaveContacts,
        reply=PreparedRun,
        handler=save_contacts,
        scope="runs:write",
    ),
)
