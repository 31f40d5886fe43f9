"""`assent cert`: makes a certificate for https in a local network, so that a phone can be used."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from assent.cli.session import CommandSession, Port, command
from assent.settings.welcome import in_shell, own_command

HTTPS_PORT = "8443"


def register(app: typer.Typer) -> None:
    command(app, "cert")(cert)


def cert(
    session: CommandSession,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="Address or name of this machine in its network; may be repeated."),
    ] = None,
    port: Port = None,
) -> None:
    """Make a certificate for https in your network, and the authority that your phone has to trust.

    Without --name it is for the addresses of this machine. Run it again when they change or after a
    year: the authority stays the same, so the phone needs nothing new.
    """
    from assent.processes.certificates import list_own_names, make_certificate

    session.add_flags(port=port)  # checked with the other settings
    settings = session.settings
    names = tuple(name or list_own_names())
    made = make_certificate(settings.data_dir, names, time.time_ns() // 1_000_000)
    host = f"[{names[0]}]" if ":" in names[0] else names[0]
    base_url = f"https://{host}:{port or HTTPS_PORT}"
    words = ["--host", "0.0.0.0", "--port", port or HTTPS_PORT, "--base-url", base_url]  # noqa: S104 - shown
    words += ["--tls-cert", str(made.certificate), "--tls-key", str(made.key)]
    serve = in_shell(own_command(settings, "serve", *words))
    trust = (
        "Your phone has to trust the authority once."
        if made.is_new
        else "The authority is the same as before."
    )
    session.give(
        {
            "authority": str(made.authority),
            "certificate": str(made.certificate),
            "key": str(made.key),
            "names": made.names,
            "fingerprint": made.fingerprint,
            "newAuthority": made.is_new,
            "serve": serve,
        },
        f"A certificate for {', '.join(made.names)}.\n\n"
        f"{trust} Bring this file to it (docs/phone.md says where to install it):\n  {made.authority}\n"
        f"Its SHA-256 fingerprint, to compare on the phone:\n  {made.fingerprint}\n\n"
        f"Serve with it:\n  {serve}",
    )
