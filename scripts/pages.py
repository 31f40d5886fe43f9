"""Writes the pages of the documentation that are made from tables of the code: `python scripts/pages.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assent.gate.rules.boundary import ATTACKS, LEVELS, PROBES, can_approve
from assent.kernel.reasons import STANDARD_REASONS, Reason
from assent.serving.agent_texts import ABOUT_REFUSALS, write_reason
from assent.settings.load import DEFAULTS
from assent.settings.table import CONFIG_ENV, CONFIG_FILE, CONFIG_FLAG, TABLE, Kind, Setting

DOCS: Final = Path(__file__).parents[1] / "docs"

SETTINGS_HEAD: Final = f"""\
# Settings

<!-- Made from src/assent/settings/table.py by `python scripts/pages.py`. -->

Everything works without a setting. Each can be given in up to three places; the first that has it wins:

1. a flag of the command,
2. an environment variable (an empty one counts as not set),
3. a TOML file: `{CONFIG_FLAG} FILE`, or `{CONFIG_ENV}`, or `{CONFIG_FILE}` in the data directory.

A key that the file should not have is refused, with the name that was probably meant. An unknown `ASSENT_*`
variable is only warned about. `assent doctor` shows where every value came from.

```toml
# {CONFIG_FILE}
port = 8090
base_url = "https://assent.example.com"
allowed_hosts = ["assent.internal"]
```

| key in the file | variable | flag | value | default | |
|---|---|---|---|---|---|
"""

SETTINGS_TAIL: Final = """
Sections `[effect.NAME]` of the file are [HTTP effects](http-effects.md): approved actions that send a request.

The variables of OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT` and others) configure [traces](deploy.md#traces).

## Secrets

With SQLite the first start makes both secrets in the data directory, in files that only their owner can read.
With PostgreSQL every replica needs the same ones, so they must be set:

```sh
export RUN_TOKEN_SECRET="$(openssl rand -base64 48)"
export ASSENT_SECRET="$(openssl rand -base64 48)"
```

To rotate one, move its value to the variable that ends in `_PREVIOUS` and set a new one: the newest signs,
all of them verify. Remove the previous value once nothing signed with it is in use any more. With the files
of an embedded server (`run_token.secret` and `master.secret`), put the new secret on a line above it.

With several replicas every one must accept the new secret before one signs with it. Restart them one by one, twice:

1. Everywhere `ASSENT_SECRET` stays the old one, and `ASSENT_SECRET_PREVIOUS` is the new one.
2. Only when all run so: everywhere `ASSENT_SECRET` is the new one, and `ASSENT_SECRET_PREVIOUS` the old one.

Both orders accept both secrets, so no link, form, token or stored key fails in between. To remove the old one later,
restart all once more in the order of step 2 first: a start seals again what an older replica sealed meanwhile.
"""

KINDS: Final = {
    Kind.TEXT: "text",
    Kind.HOST: "address",
    Kind.PATH: "directory",
    Kind.FILE: "file",
    Kind.DATABASE: "database address",
    Kind.ORIGIN: "web address",
    Kind.COUNT: "whole number",
    Kind.SECONDS: "seconds",
    Kind.SWITCH: "`true` or `false`",
    Kind.PRESENCE: "anything",
    Kind.NAMES: "list",
    Kind.FOLDERS: "folders",
    Kind.OPERATORS: "files and modules",
    Kind.ROLES: "list of value=workspace",
    Kind.PRICES: "list of prices",
    Kind.RISKS: "list of source:tool=risk",
    Kind.KEY: "workspace key",
    Kind.SECRET: "secret, 32 characters or more",
    Kind.SECRETS: "list of secrets",
    Kind.ENDPOINT: "web address",
    Kind.TOKEN: "key of the service",
    Kind.MAIL_SERVER: "mail server address",
    Kind.MAILBOX: "e-mail address",
}


def write_settings() -> str:
    return SETTINGS_HEAD + "".join(f"| {' | '.join(_list_cells(row))} |\n" for row in TABLE) + SETTINGS_TAIL


def _list_cells(row: Setting) -> tuple[str, ...]:
    value = " ".join(f"`{word}`" for word in row.choices) or KINDS[row.kind]
    return (
        f"`{row.name}`" if row.in_file else "",
        f"`{row.env}`",
        f"`{row.flag}`" if row.flag else "",
        value,
        _describe_default(row),
        row.doc,
    )


def _describe_default(row: Setting) -> str:
    if row.default_text is not None:
        return row.default_text
    default = DEFAULTS.get(row.name)
    if default is None or default == ():
        return "none"
    if isinstance(default, tuple):
        return " ".join(f"`{each}`" for each in default)
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


ASSURANCE_HEAD = """\
# Assurance

How surely a person decided, in one order: `agent` = `link` < `client` < `person` < `passkey`. The
[policy](policy.md) says which one an action needs.

| assurance | the server knows |
|---|---|
| `agent`, `link` | A caller with a key, or someone with the review link, says that a person agreed |
| `client` | A client says that its user pressed the button of its dialog; or a signed-in browser decides |
| `person` | A signed-in person confirmed exactly this content with a key of the origin |
| `passkey` | A person confirmed exactly this content with a passkey, verified by its device |

On https with a host name of its own a signed-in browser counts as `person`: no other program has its cookie. On plain
http, on `localhost` and on an IP address it counts as `client`, and a key of the origin makes it more.

## What an injected agent can approve

An agent may follow instructions that someone else wrote into a page or a mail. Each row is something that such an agent
may hold. A cell says whether it can approve an action for which the policy asks for this assurance. A test plays every
cell against a server.
"""

ASSURANCE_TAIL = """\
An agent with a shell under the server's own user can do what the server can do: read the secrets, write the database,
print a sign-in link. No assurance helps against that; run the server as another user or on another machine
([SECURITY.md](../SECURITY.md)). `examples/break_the_gate.py` plays these attacks against a server with the policy
`people`, and nothing is executed.

## What the server claims

```sh
sudo assent boundary --user agent
```

`assent boundary` tries, as the user that your agent runs as, what the table below lists, and prints what held. It
changes nothing: a sign-in link is rolled back, files are opened and not written. Run it as root with `--user`, or as
that user. The result is stored for each user and is an event of the journal; a new check replaces it, and `--forget`
removes it.

{probes}

Where something with a cap worked, the server still asks people for what the policy says, and records how they came. It
no longer *claims* that it was a person: `assurance` in records, answers, webhooks and the audit log is the cap, an
approval has `claimed` beside what was seen, pages say that an agent of this machine could have signed in, and
`/.well-known/mcp.json` has `assurance.mostClaimed` with `boundary: "open"`. Without a check it says `unchecked`; where
everything held, `held` with the time. Approvals from before the check keep what was claimed then. The result is as
trustworthy as the store: a user who can write the store can remove it ([why](decisions/{decision})).

This page is made from the tables in `src/assent/gate/rules/boundary.py`.
"""
DECISION = "0016-a-check-caps-what-is-claimed.md"


def write_assurance() -> str:
    head = f"| it holds | {' | '.join(f'`{level}`' for level in LEVELS)} | why |"
    rows = [
        f"| {attack.holds} | {' | '.join(_cell(can_approve(attack, level)) for level in LEVELS)} | {attack.why} |"
        for attack in ATTACKS
    ]
    probes = ["| an agent tries to | if it works, the server claims at most | why |", "|---|---|---|"]
    probes += [
        f"| {probe.does} | {f'`{probe.cap}`' if probe.cap is not None else 'what it sees'} | {probe.consequence} |"
        for probe in PROBES
    ]
    end = ASSURANCE_TAIL.replace("{probes}", "\n".join(probes)).replace("{decision}", DECISION)
    return "\n".join([ASSURANCE_HEAD, head, f"|---|{'---|' * len(LEVELS)}---|", *rows, "", end])


def _cell(can: bool) -> str:
    return "can" if can else "cannot"


REASONS_HEAD = f"""\
# Reasons

{ABOUT_REFUSALS}
Where sign-up is closed (`signups_per_hour = 0`), `missing_api_key` has no recovery tool and `retry` is `never`.

This page is made from the table in `src/assent/kernel/reasons.py`.
"""


def write_reasons() -> str:
    return "\n".join(
        [REASONS_HEAD, "## Of the contract", "", *map(write_reason, STANDARD_REASONS), "## Our own", ""]
        + [write_reason(reason) for reason in Reason if reason not in STANDARD_REASONS]
    )


PAGES: Final = {
    "assurance.md": write_assurance,
    "reasons.md": write_reasons,
    "settings.md": write_settings,
}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (DOCS / name).write_text(write())
