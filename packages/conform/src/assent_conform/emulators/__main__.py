"""Emulated Google and HubSpot in one process.

    python -m assent_conform.emulators --folder DIR [--client-id ID --client-secret SECRET]

prints their addresses as one line of JSON and stays until it is ended. Each writes its own ledger into the folder. One
client, the same for both, is registered with them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from pathlib import Path
from typing import Final

from assent_conform.emulators.contacts import HubSpot
from assent_conform.emulators.google import Ga4, GoogleAccounts, SearchConsole
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.oauth_provider import RegisteredApp
from assent_conform.testing.provider_server import ProviderServer, all_serving
from assent_conform.testing.standalone import announce

CLIENT: Final = RegisteredApp("emulated-client", "emulated-client-secret")


def host_all(folder: Path, client: RegisteredApp = CLIENT) -> tuple[ProviderServer, ...]:
    """Return the four servers, each with its ledger."""
    folder.mkdir(parents=True, exist_ok=True)

    def ledger(name: str) -> Ledger:
        return Ledger(folder / f"{name}.jsonl")

    google = GoogleAccounts(ledger("google_oauth"), client)
    return (
        google,
        Ga4(ledger("ga4"), google.valid),
        SearchConsole(ledger("search_console"), google.valid),
        HubSpot(ledger("hubspot"), client),
    )


async def _serve(folder: Path, client: RegisteredApp) -> None:
    async with all_serving(host_all(folder, client)) as addresses:
        await announce(addresses)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m assent_conform.emulators", description="Emulated Google and HubSpot."
    )
    parser.add_argument("--folder", type=Path, required=True, help="where the ledgers are written")
    parser.add_argument("--client-id", default=CLIENT.client_id)
    parser.add_argument("--client-secret", default=CLIENT.client_secret)
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(given.folder, RegisteredApp(given.client_id, given.client_secret)))


if __name__ == "__main__":
    main()
