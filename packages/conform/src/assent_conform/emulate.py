"""`assent emulate`: a provider on this machine, to try a channel without an account."""

from __future__ import annotations

import asyncio
import contextlib
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from assent.sdk import CommandSession, Failure
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.standalone import Scripted


class Emulated(msgspec.Struct, frozen=True):
    """An emulator, and the setting by which a server reaches it."""

    module: str
    name: str
    """Of the class in the module."""
    port: int
    """Always the same, because settings and connections name it."""
    setting: str
    flags: str = ""
    """Of `assent connect`, beside the provider."""


EMULATED: Final = {
    "bluesky": Emulated("bluesky", "Bluesky", 8701, "ASSENT_BLUESKY_URL"),
    "resend": Emulated("email", "Resend", 8702, "ASSENT_RESEND_URL", ' --from "Ann <ann@example.org>"'),
    "slack": Emulated("slack", "Slack", 8703, "ASSENT_ALLOW_HOSTS"),
    "zernio": Emulated("zernio", "Zernio", 8704, "ASSENT_ZERNIO_URL"),
}


def emulate(
    session: CommandSession,
    provider: Annotated[
        str, typer.Argument(metavar="PROVIDER", help=f"{', '.join(EMULATED)}.", show_default=False)
    ],
    port: Annotated[
        int | None, typer.Option("--port", metavar="PORT", help="Instead of the emulator's usual one.")
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option("--ledger", metavar="FILE", help="Where it writes what it did (./PROVIDER.jsonl)."),
    ] = None,
) -> None:
    """Emulate a provider until Ctrl+C, and print how to connect it: a channel can be tried without an account."""
    found = EMULATED.get(provider)
    if found is None:
        raise Failure(f"There is no emulator of {provider!r}. Name one of: {', '.join(EMULATED)}.")
    file = Path(ledger or f"{provider}.jsonl")
    module = import_module(f"assent_conform.emulators.{found.module}")

    async def serve() -> None:
        server: Scripted = getattr(module, found.name)(Ledger(file))
        try:
            async with server.serving(found.port if port is None else port) as url:
                session.give(
                    *_describe(
                        session, provider, found, getattr(server, "hook", None) or module.KEY, url, file
                    )
                )
                await asyncio.Event().wait()
        except OSError as error:
            raise Failure(f"The emulator cannot listen: {error}.\nName another port with --port.") from None

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


def _describe(
    session: CommandSession, provider: str, found: Emulated, key: str, url: str, file: Path
) -> tuple[dict[str, Any], str]:
    value = url.removeprefix("http://") if found.setting == "ASSENT_ALLOW_HOSTS" else url
    setting = f"{found.setting}={value}"
    connect = f"echo '{key}' | {setting} {session.again('connect', provider, '--key-stdin')}{found.flags}"
    text = (
        f"{found.name} is emulated at {url} until Ctrl+C. It writes what it did to {file.resolve()}.\n"
        f"In a second terminal, connect it:\n\n  {connect}\n\n"
        f"and start your server with the same setting:\n\n  {setting} {session.again('serve')}"
    )
    return {
        "url": url,
        "key": key,
        "setting": setting,
        "ledger": str(file.resolve()),
        "connect": connect,
    }, text
