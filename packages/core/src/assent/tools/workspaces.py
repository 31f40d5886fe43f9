"""Tools to get a workspace and to read one's own (C26)."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from assent.engine.actions import hooks
from assent.engine.core import tenancy
from assent.engine.core.rate import address_owner, allow_own
from assent.engine.core.services import Services
from assent.engine.people import signup
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MAX_EMAIL_CHARS, MAX_NAME_CHARS
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.kernel.structs import Arguments, Record, WireRecord
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.tools.arguments import is_address
from assent.tools.definition import READS, WRITES, Call, PublicCall, Tool

SIGNUP: Final = "chieflab_signup_workspace"


class SignupWorkspace(Arguments):
    email: Annotated[
        str,
        msgspec.Meta(
            min_length=3,
            max_length=MAX_EMAIL_CHARS,
            description="The user's e-mail address, asked from the user.",
        ),
    ]
    name: (
        Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS, description="What to call the workspace.")]
        | None
    ) = None


class SignupStarted(WireRecord):
    ok: bool
    delivery_url: Annotated[
        str,
        msgspec.Meta(
            description="A one-time page for the human; it shows the key after a click, or says what it waits for."
        ),
    ]
    user_message: Annotated[str, msgspec.Meta(description="Say this to the user verbatim.")]


async def signup_workspace(call: PublicCall, request: SignupWorkspace) -> SignupStarted:
    """Request a key; the answer has the page that the person opens (E93)."""
    delivery_url = await start_signup(call.services, request.email, request.name, call.address)
    return SignupStarted(
        ok=True,
        delivery_url=delivery_url,
        user_message=f"Open {delivery_url} and press the button there: the page shows your key once, or says what it "
        "waits for. Put the key into this client's settings; please do not paste it into the chat.",
    )


async def start_signup(services: Services, email: str, name: str | None, address: str) -> str:
    """Store a sign-up link and return its URL, for the tool and the get-key page."""
    email = email.strip()
    if not is_address(email):
        raise bad_argument("email", "an e-mail address such as ada@example.org", f"{email[:80]!r}")
    pages = services.links.page_address()
    if pages is None:
        raise Refusal(
            Reason.TEMPORARILY_UNAVAILABLE,
            user_message="The page that hands out keys is not running. Start it with: "
            f"{services.links.shell_command('serve')}",
            retry_after_seconds=30,
        )
    now_ms = services.clock.now_ms()
    await services.limits.rate_limiter.count(services.limits.signups, address_owner(), address, now_ms)
    workspace_id = WorkspaceId(services.new_id(now_ms))
    secret = services.entropy(signup.LINK_SECRET_BYTES)
    given, reserved = (name or "").strip(), services.limits.reserved_names

    def request() -> Transaction[str]:
        wanted = given or email.partition("@")[0]
        label = yield from tenancy.choose_name(wanted, reserved, numbered=not given)
        return (
            yield from signup.request_signup(workspace_id, secret, email, label, now_ms, asked_from=address)
        )

    return f"{pages}/claim/{await services.store.write(request)}"


class GetWorkspace(Record, forbid_unknown_fields=True):
    """No arguments: the workspace is the key's."""


class KeyUse(WireRecord):
    key_id: str
    mode: str
    scopes: list[str]


class WorkspaceReply(WireRecord):
    ok: bool
    workspace_id: str
    name: str
    created_at: str
    key: KeyUse
    tenants: list[str]
    """The first of them; chieflab_list_tenants has all."""
    rate_limit_per_minute: int
    extra: dict[str, Any] = {}
    """What extensions add, such as the credits for metered actions."""


async def get_workspace(call: Call, request: GetWorkspace) -> WorkspaceReply:
    caller = call.caller

    def describe() -> Transaction[tuple[tenancy.Workspace, list[str], dict[str, Any]]]:
        workspace = yield from tenancy.get_workspace(caller.workspace_id)
        tenants = yield from tenancy.list_tenants(caller.workspace_id)
        named = [each.tenant_id for each in tenants]
        return workspace, named, (yield from hooks.read_account(caller.workspace_id))

    workspace, tenants, extra = await call.services.store.read(describe)
    return WorkspaceReply(
        ok=True,
        workspace_id=workspace.workspace_id,
        name=workspace.name,
        created_at=iso_time(workspace.created_ms),
        key=KeyUse(caller.key_id or "local", caller.mode, sorted(caller.scopes)),
        tenants=tenants,
        rate_limit_per_minute=allow_own(call.services.limits.calls, caller.calls_per_minute).most,
        extra=extra,
    )


TOOLS = (
    Tool(
        name=SIGNUP,
        title="Get a workspace",
        description="Requests a workspace key for a user who has none. Returns deliveryUrl, a one-time page where the "
        "human takes the key; it never enters the chat. USE WHEN a call answered missing_api_key, or the user has no "
        "key yet and wants to sign up or create a workspace. Ask the user for their e-mail address first, show "
        "userMessage, then wait. DO NOT call it again while a link is open.",
        behaviour=WRITES,
        request=SignupWorkspace,
        reply=SignupStarted,
        handler=signup_workspace,
        public=True,
    ),
    Tool(
        name="chieflab_get_workspace",
        title="Show the workspace",
        description="Shows the workspace that the key belongs to: its name, the key's rights, its tenants, limits "
        "and the credits that are left. USE WHEN you must check that a key works or which workspace it is.",
        behaviour=READS,
        request=GetWorkspace,
        reply=WorkspaceReply,
        handler=get_workspace,
    ),
)
