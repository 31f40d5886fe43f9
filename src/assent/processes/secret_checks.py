"""Compares the secrets of a server with the fingerprints that its store keeps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from assent.engine.core import server_keys
from assent.engine.core.server_keys import ServerKeys
from assent.kernel import tokens
from assent.ports import Store, StoreUnavailable, Transaction
from assent.settings.secret_files import MASTER, RUN_TOKEN, SecretHome

SECRETS: Final = {RUN_TOKEN: "run_token", MASTER: "master"}
"""The names of the secrets' fingerprints."""


class SecretMismatch(StoreUnavailable):
    """The store was created with different secrets."""


async def check_secrets(store: Store, keys: ServerKeys) -> None:
    """Refuse secrets that the store was not created with: every link would be invalid."""
    await store.open()  # in this task, so that closing the application ends an attempt to connect
    await store.write(partial(compare_secrets, {RUN_TOKEN: keys.run_token, MASTER: keys.master}))


def compare_secrets(rings: Mapping[SecretHome, tuple[bytes, ...]]) -> Transaction[None]:
    """Raise `SecretMismatch` if the store was created with other secrets."""
    for home, ring in rings.items():
        known = tuple(map(tokens.fingerprint, ring))
        if not (yield from server_keys.check_fingerprint(SECRETS[home], known)):
            raise SecretMismatch(
                f"{home.env}, or {home.file_name} in the data directory, is not the secret this database was made "
                f"with.\nPut back the one that it was made with; to change it, set the new one as {home.env} and the "
                f"old one as {home.env}_PREVIOUS."
            )
