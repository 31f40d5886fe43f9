"""The server's key for web push. A browser subscribes with its public half, and the private half is
stored with the subscription (`engine.people.targets`), so that a later key changes nothing for it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.core.services import MessageServices
from assent.gate.connection import OpenedSecrets
from assent.kernel import tokens
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.net.webpush import KEY_BYTES, load_private, public_point, read_subscription
from assent.ports import Transaction

_HOLDER: Final = "webpush"
_KEY: Final = "vapid"


async def find_public_key(services: MessageServices) -> str:
    """Return the public key that browsers subscribe with, as base64url. Made at the first use."""
    return tokens.encode(public_point(load_private(tokens.decode(await _find_key(services)))))


async def complete_subscription(services: MessageServices, sent: str) -> str:
    """Return the address of a browser's subscription, with the server's key; empty if it is none."""
    found = read_subscription(sent)
    if found is None:
        return ""
    with_key = msgspec.structs.replace(found, vapid=await _find_key(services))
    return msgspec.json.encode(with_key).decode()


async def _find_key(services: MessageServices) -> str:
    drawn, seal, now_ms = services.entropy(KEY_BYTES), services.vault.seal(1), services.clock.now_ms()

    def read() -> Transaction[str]:
        secrets = yield from services.vault.open(SYSTEM_WORKSPACE, _HOLDER)
        known: str = dict(secrets.items()).get(_KEY, "")
        return known

    def make() -> Transaction[str]:
        if known := (yield from read()):
            return known
        made = OpenedSecrets({_KEY: tokens.encode(drawn)})
        yield from services.vault.put(SYSTEM_WORKSPACE, _HOLDER, made, seal, now_ms)
        return (yield from read())

    return await services.store.read(read) or await services.store.write(make)
