"""The connector of an HTTP effect: it sends one signed JSON request for an approved action.

The request carries both webhook signatures, the id of the action, the declared headers with their
secrets, and the idempotency key where the section names a header for it. Method and address are
part of the approved content: after a change in the settings a person approves again.

The rules of every outgoing request hold (`assent.net.addresses`): public addresses only, except for
hosts that the settings allow; no redirect is followed; time and size are bounded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from assent.engine.connections.named_secrets import open_secrets
from assent.engine.core.services import Services
from assent.engine.core.vault import SealBroken
from assent.engine.webhooks.webhooks import signing_secret
from assent.extensions.connectors import read_receipt
from assent.extensions.http.sections import (
    ACTION,
    KEY,
    HttpEffect,
    HttpRequest,
    ReadBack,
    fill_text,
    follow,
    read_text,
    write_value,
)
from assent.extensions.operators import EffectFunction
from assent.extensions.options import Receipt
from assent.extensions.problems import ArgumentProblem
from assent.extensions.requests import send_request
from assent.gate import webhooks
from assent.gate.connection import OpenedSecrets
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import SECOND_MS
from assent.kernel.refusals import Reason
from assent.kernel.structs import Record
from assent.net.http_outcomes import failure, not_connected, not_now
from assent.ports import Connector, Context, Delivered, OutcomeUnknown
from assent.ports.context import action_of, not_ready

if TYPE_CHECKING:
    from assent.net.outgoing import Posted

HIDDEN: Final = "[redacted]"
LEAST_HIDDEN_CHARS: Final = 4
"""A shorter secret would be found in every answer."""


class HttpAccess(Record):
    """What HTTP effects use of the server: its store and vault, and the hosts that the settings
    allow."""

    services: Callable[[], Services]
    allow_hosts: tuple[str, ...] = ()


class HttpConnector:
    """Performs one HTTP effect."""

    uses_sending = True
    rereads = True

    def __init__(self, effect: HttpEffect, access: HttpAccess) -> None:
        self.id = effect.tool
        self.delivery = effect.options.delivery
        self.timeout_seconds = effect.options.timeout_seconds
        self._effect = effect
        self._request: HttpRequest = effect.request
        self._access = access

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        from assent.net.addresses import FetchRefused, screen

        try:
            screen(self._request.fixed_url, allow_hosts=self._access.allow_hosts)
        except FetchRefused as refused:
            hint = f"{refused.text} Allow the host in the settings: allow_hosts."
            return Readiness(False, Reason.PROVIDER_NOT_LIVE.value, hint)
        stored = await self._open(workspace_id)
        missing = next((name for name in self._request.secrets if stored.get(name) is None), None)
        if missing is not None:
            return not_ready(_explain_missing(missing, workspace_id), f"The secret {missing} is not stored.")
        return Readiness(ready=True)

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """Set method and address, so that the approval covers them."""
        with suppress(ArgumentProblem):  # `readiness_for` says it
            return msgspec.structs.replace(effect, target=self._request.make_target(effect.arguments))
        return effect

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        try:
            target = self._request.make_target(effect.arguments)
        except ArgumentProblem as problem:
            said = f"The settings no longer take these arguments ({problem})."
            return not_ready(f"{said} Change them, or prepare it again.", said)
        if effect.target != target:
            said = "The settings send this to another address than the one it was prepared for."
            return not_ready(f"{said} Ask for it again: you then see where it goes.", said, nameable=True)
        return await self.readiness(workspace_id)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        request, target = self._request, effect.target
        try:
            self._effect.signature.read(effect.arguments)
            if target is None or target != request.make_target(effect.arguments):
                raise not_now("the settings name another address than the approved one")
            # The approved address itself is asked, with what is known of the action now.
            approved = target["accountId"].removeprefix(f"{request.method} ")
            url = request.fill(approved, {KEY: ctx.key, ACTION: ctx.action_id})
        except ArgumentProblem as problem:
            raise not_now(f"the settings no longer take these arguments ({problem})") from None
        given = {name: value for name, value in effect.arguments.items() if value is not None}
        body = msgspec.json.encode(given)
        secrets, headers = await self._headers(ctx, body)
        if request.idempotency_header is not None:
            headers[request.idempotency_header] = ctx.key
        answer = await self._send(ctx, request.method, url, body, headers)
        value = _decode(answer.body, secrets)
        if not 200 <= answer.status < 300:
            raise failure(answer.status, _find_detail(value), answer.retry_after)
        return self._read_result(value, ctx)

    def _read_result(self, value: Any, ctx: Context) -> Delivered:
        request = self._request
        found = read_text(value, request.id) if request.id is not None else ctx.key
        if not found:
            raise OutcomeUnknown(f"the answer has no id at {'.'.join(request.id or ())}")
        page = read_text(value, request.page) if request.page is not None else ""
        return read_receipt(self._effect.__name__, Receipt(found, url=page or None, output=value))

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        back = self._request.read_back
        if back is None:
            raise OutcomeUnknown("this effect cannot be looked up")
        values = {**effect.arguments, KEY: ctx.key, ACTION: ctx.action_id}
        secrets, headers = await self._headers(ctx, b"")
        try:
            url = self._request.fill(back.url, values)
        except ArgumentProblem as problem:
            raise OutcomeUnknown(str(problem)) from None
        answer = await self._send(ctx, "GET", url, b"", headers)
        value = _decode(answer.body, secrets)
        if 200 <= answer.status < 300 and value is not None:
            proof = follow(value, back.proof)
            if _proves(back, proof, values):
                found = read_text(value, back.id or back.proof) or ctx.key
                page = read_text(value, back.page) if back.page is not None else ""
                return read_receipt(self._effect.__name__, Receipt(found, url=page or None, output=value))
        elif answer.status not in (404, 410):
            raise OutcomeUnknown(f"the address that reads back answered {answer.status}")
        self._refuse_early(back, ctx)
        return None

    def _refuse_early(self, back: ReadBack, ctx: Context) -> None:
        """Raise OutcomeUnknown while the request may still be on its way."""
        attempt, now_ms = ctx.action.attempt, self._access.services().clock.now_ms()
        if attempt is not None and now_ms - attempt.started_ms < back.settle_seconds * SECOND_MS:
            raise OutcomeUnknown(
                f"it is not there, less than {back.settle_seconds} seconds after the request"
            )

    async def _open(self, workspace_id: WorkspaceId) -> OpenedSecrets:
        services = self._access.services()
        if not self._request.secrets:
            return OpenedSecrets({})
        try:
            return await services.store.read(
                partial(open_secrets, services.vault, workspace_id, self._request.secrets)
            )
        except SealBroken:
            return OpenedSecrets({})

    async def _headers(self, ctx: Context, body: bytes) -> tuple[OpenedSecrets, dict[str, str]]:
        """Return the secrets and the headers of one request. Raises `NotSent` for a missing secret."""
        services = self._access.services()
        secrets = await self._open(ctx.workspace_id)
        for name in self._request.secrets:
            if secrets.get(name) is None:
                raise not_connected(_explain_missing(name, ctx.workspace_id))
        signing = await signing_secret(services, ctx.workspace_id)
        signed = webhooks.headers(signing, ctx.key, services.clock.now_ms(), body)
        declared = self._request.fill_headers(dict(secrets.items()))
        return secrets, {
            "accept": "application/json",
            **{name.lower(): text for name, text in declared.items()},
            **signed,
            "assent-action-id": ctx.action_id,
        }

    async def _send(
        self, ctx: Context, method: str, url: str, body: bytes, headers: Mapping[str, str]
    ) -> Posted:
        allow_hosts = self._access.allow_hosts
        return await send_request(ctx, method, url, body, headers=headers, allow_hosts=allow_hosts)


def _explain_missing(name: str, workspace_id: WorkspaceId) -> str:
    return (
        f"The secret {name} is not stored in this workspace. Store it in a terminal of this server: "
        f"assent secret set {name} --workspace {workspace_id}"
    )


def _proves(back: ReadBack, proof: Any, values: Mapping[str, Any]) -> bool:
    if back.equals is not None:
        return proof is not None and write_value(proof) == fill_text(back.equals, values)
    return proof is not None and proof is not False


def _decode(body: bytes, secrets: OpenedSecrets) -> Any:
    """Return the JSON of an answer without the secrets that it repeats; None if it is no JSON."""
    hidden = [secret for _, secret in secrets.items() if len(secret) >= LEAST_HIDDEN_CHARS]
    try:
        return _hide(json.loads(body), hidden)
    except (ValueError, RecursionError):
        return None


def _hide(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        return value
    if isinstance(value, dict):
        return {_hide(name, secrets): _hide(part, secrets) for name, part in value.items()}
    return [_hide(part, secrets) for part in value] if isinstance(value, list) else value


def _find_detail(value: Any) -> str:
    """Return the message of a refusal, as APIs usually name it."""
    paths = (("error", "message"), ("message",), ("error",), ("detail",), ("title",))
    return next((text for path in paths if (text := read_text(value, path))), "")


def make_http_connectors(effects: Iterable[EffectFunction], access: HttpAccess) -> dict[str, Connector]:
    """Return the connector of each HTTP effect, by its id."""
    return {each.tool: HttpConnector(each, access) for each in effects if isinstance(each, HttpEffect)}
