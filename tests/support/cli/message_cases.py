"""Every command with arguments that work, and with wrong ones, for the test of messages.

`{dir}` is an empty folder, `{file}` a file that is missing or has nonsense in it, `{port}` a port that another program
holds: a server that would start ends there.
"""

from __future__ import annotations

from typing import Final

import msgspec

NO_DATABASE: Final = ("--database-url", "mysql://host/x")


class Usage(msgspec.Struct, frozen=True):
    words: tuple[str, ...] = ()
    """Arguments with which the command can do its work."""
    wrong: tuple[str, ...] = NO_DATABASE
    """Arguments with a wrong value."""
    files: tuple[tuple[str, ...], ...] = ()
    """Arguments that name a file."""
    twice: bool = False
    """Whether a second run finds what the first one made."""
    needs_data: bool = True
    """Whether it works on the data directory."""
    reads_file: bool = True
    """Whether it reads the file, and no server does so for it."""


def of_workspace(*words: str) -> Usage:
    return Usage(("local", *words), ("nowhere", *words))


COMMANDS: Final[dict[str, Usage]] = {
    "init": Usage(twice=True),
    "serve": Usage(
        ("--port", "{port}"),
        ("--port", "eighty"),
        (
            ("--port", "{port}", "--tls-cert", "{file}", "--tls-key", "{file}"),
            ("--port", "{port}", "--operators", "{file}"),
            ("--port", "{port}", "--config", "{file}"),
        ),
    ),
    "stdio": Usage((), ("--log-level", "loud"), (("--config", "{file}"),)),
    "wrap": Usage(
        ("--", "no-such-program"),
        (),
        (("--config", "{file}"), ("--rules", "{file}", "--", "true")),
        needs_data=False,
        reads_file=False,
    ),
    "unwrap": Usage((), ("--data-dir",), needs_data=False),
    "migrate": Usage(twice=True, files=(("--operators", "{file}"),)),
    "backup": Usage(("{dir}/copy",), ("{dir}/no-folder/copy",), twice=True),
    "restore": Usage(("{file}",), (), (("{file}",),)),
    "owner-link": Usage(("--json",), ("--json", "--name", "\a")),
    "open": Usage(("--json",), ("--json", *NO_DATABASE)),
    "connect": Usage(("slack", "--key-stdin"), ("nowhere", "--key-stdin")),
    "disconnect": Usage(("slack",), ("nowhere",)),
    "doctor": Usage(
        ("--port", "{port}"), ("--port", "eighty"), (("--port", "{port}", "--operators", "{file}"),)
    ),
    "freeze": Usage((), ("--workspace", "nowhere"), twice=True),
    "unfreeze": Usage((), ("--workspace", "nowhere"), twice=True),
    "boundary": Usage(("--user", "0", "--forget"), ("--user", "no-such-user")),
    "conform": Usage(
        ("http://127.0.0.1:1",),
        ("ftp://x",),
        (("http://127.0.0.1:1", "--junit", "{file}/x"),),
        needs_data=False,
    ),
    "emulate": Usage(("slack", "--port", "{port}"), ("nowhere",), needs_data=False),
    "demo": Usage(needs_data=False, wrong=("--interactive=maybe",)),
    "hook claude-code": Usage((), ("--wait", "soon"), needs_data=False),
    "workspace create": Usage(("acme",), ("acme", "--email", "x"), twice=True),
    "workspace list": Usage(),
    "workspace show": of_workspace(),
    "workspace webhook-secret": of_workspace(),
    "workspace webhook-hosts": Usage(("local", "hooks.example.org"), ("local", "https://x/y")),
    "workspace webhook-subscribe": Usage(
        ("local", "https://hooks.example.org/x", "--event", "nothing"), ("local", "http://127.0.0.1/")
    ),
    "workspace webhook-subscriptions": of_workspace(),
    "workspace webhook-unsubscribe": of_workspace("sub_1"),
    "workspace webhooks": Usage(("local",), ("local", "--state", "odd")),
    "workspace webhook-resend": of_workspace("whd_1"),
    "workspace credits": Usage(("local",), ("local", "--limit", "-3")),
    "people apply": Usage(("{file}",), ("{file}", *NO_DATABASE), (("{file}", "--yes"),)),
    "people invite": Usage(("Ann", "--json"), ("Ann",), twice=True),
    "people list": Usage(),
    "people remove": Usage(("Grace",), ("Grace",)),
    "policy show": Usage((), ("--workspace", "nowhere")),
    "policy check": Usage(("people",), ("nothing",), (("{file}",),)),
    "policy set": Usage(("people",), ("nothing",), (("{file}",),), twice=True),
    "policy replay": Usage(("people",), ("nothing",), (("{file}",),)),
    "rules list": Usage((), ("--workspace", "nowhere")),
    "rules set": Usage(("{file}",), ("{file}",), (("{file}",),)),
    "rules end": Usage(("nothing",), ("nothing",)),
    "mcp config": Usage(
        ("cursor", "--write", "--yes", "--file", "{dir}/mcp.json"),
        ("emacs",),
        (("cursor", "--write", "--yes", "--file", "{file}"),),
        twice=True,
    ),
    "workspace rate": of_workspace("--per-minute", "120"),
    "keys create": Usage((), ("--scope", "odd")),
    "keys list": Usage((), ("--workspace", "nowhere")),
    "keys revoke": Usage(("key_1",), ("key_1", "--workspace", "nowhere")),
    "keys rotate": Usage(("key_1",), ("key_1", "--overlap", "soon")),
    "secret set": Usage(("stripe",), ("No Name",)),
    "secret list": Usage((), ("--workspace", "nowhere")),
    "secret remove": Usage(("stripe",), ("stripe", "--workspace", "nowhere")),
    "new operator": Usage(("acme-billing", "{dir}/billing"), ("No Name",), twice=True, needs_data=False),
    "erase person": Usage(("ada@example.org", "--yes"), ("ada@example.org", "--workspace", "nowhere")),
    "audit verify": Usage(files=(("--checkpoint", "{file}"),)),
    "audit checkpoint": Usage(twice=True),
    "audit export": Usage(),
    "workflow list": Usage(needs_data=False),
    "workflow validate": Usage(("{file}",), ("{dir}",), (("{file}",),), needs_data=False),
    "workflow run": Usage(("nowhere",), ("assent.bug-fix", "--context", "{"), needs_data=False),
    "workflow test": Usage(
        ("nowhere",), (), (("{file}",), ("assent.bug-fix", "--answers", "{file}")), needs_data=False
    ),
    "workflow schema": Usage(needs_data=False),
    "workflow new": Usage(("release-notes", "{dir}"), ("No Name",), twice=True, needs_data=False),
    "session list": Usage((), ("--workspace", "nowhere")),
    "session export": Usage(("nowhere",), ("nowhere", "--workspace", "nowhere")),
    "session import": Usage(("{file}",), ("{file}", "--workspace", "nowhere"), (("{file}",),)),
}
