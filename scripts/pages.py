"""Writes the pages of the documentation that are made from tables of the code: `python scripts/pages.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assent.kernel.reasons import STANDARD_REASONS, Reason
from assent.serving.discovery import ABOUT_REFUSALS, write_reason
from assent.settings.load import DEFAULTS
from assent.settings.table import CONFIG_ENV, CONFIG_FILE, CONFIG_FLAG, TABLE, Kind, Setting

DOCS: Final = Path(__file__).parents[1] / "docs"

SETTINGS_HEAD: Final = f"""\
# Settings

<!-- Made from packages/core/src/assent/settings/table.py by `python scripts/pages.py`. -->

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
Sections `[extension.NAME]` have the settings of an extension, which its own documentation names.

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


REASONS_HEAD = f"""\
# Reasons

{ABOUT_REFUSALS}
Where sign-up is closed (`signups_per_hour = 0`), `missing_api_key` has no recovery tool and `retry` is `never`.

This page is made from the table in `packages/core/src/assent/kernel/reasons.py`.
"""


def write_reasons() -> str:
    return "\n".join(
        [REASONS_HEAD, "## Of the contract", "", *map(write_reason, STANDARD_REASONS), "## Our own", ""]
        + [write_reason(reason) for reason in Reason if reason not in STANDARD_REASONS]
    )


PAGES: Final = {
    "reasons.md": write_reasons,
    "settings.md": write_settings,
}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (DOCS / name).write_text(write())
