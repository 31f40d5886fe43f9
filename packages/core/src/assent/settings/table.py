"""The settings of the server in one table: name, sources, allowed values and purpose.

The loader, the settings page of the docs and `assent doctor` read it. `assent.settings.load`
defines the precedence and the defaults.
"""

from __future__ import annotations

import enum
from typing import Any, Final

from assent.kernel.structs import Record
from assent.kernel.toolsets import TOOLSETS

OWN_PREFIX: Final = "ASSENT_"
"""Prefix of our variables. An unknown one is probably a mistake and gets a warning."""


class Kind(enum.Enum):
    """How a value is written and checked. The enum value is the message for an invalid one."""

    TEXT = "text"
    HOST = "an address or host name to bind, such as 127.0.0.1, 0.0.0.0 or ::1"
    PATH = "a directory"
    FILE = "a file"
    DATABASE = "sqlite:///relative.db, sqlite:////absolute/path.db or postgresql://user@host/database"
    ORIGIN = "a web address without a path, such as https://assent.example.com"
    COUNT = "a whole number"
    SECONDS = "a number of seconds"
    SWITCH = "true or false"
    PRESENCE = "anything; setting it at all switches it on"
    CHOICE = "one of the listed words"
    FOLDERS = "folders, separated by colons in a variable, an array of strings in the file"
    NAMES = "a list: separated by commas or spaces in a variable, an array of strings in the file"
    OPERATORS = "files and modules, separated by commas in a variable, an array of strings in the file"
    PRICES = "a list of connectors with a whole number of credits each, such as zernio=2, resend=1"
    RISKS = "a list of tools that agents run with a risk each, such as claude-code:Write=low"
    ROLES = "a list of claim values with a workspace each, such as sales=Acme"
    KEY = "a workspace key, which starts with clp_live_ or clp_dev_"
    SECRET = "32 or more random characters"  # noqa: S105 - a description
    SECRETS = "a list of secrets, newest first"
    ENDPOINT = "a web address, such as https://models.example.com/v1"
    TOKEN = "the key that the service gave out"  # noqa: S105 - a description
    MAIL_SERVER = "smtp://host:587 or smtps://host:465; a user and password go before the host"
    MAILBOX = "an e-mail address, such as ann@example.org or Ann <ann@example.org>"


class Setting(Record, kw_only=True):
    """One row. `name` is also the key in the file. Extensions have rows, too: ours are read beside the server's own,
    any other's from the section `[extension.NAME]` of the file, which has neither variables nor flags."""

    name: str
    doc: str
    kind: Kind = Kind.TEXT
    default: Any = None
    """Of an extension's row. The server's own are fields of `Settings`."""
    of_owner: bool = False
    """Whether it serves the owner's workspaces alone. Any other workspace has the default."""
    flag: str | None = None
    variable: str | None = None
    """The environment variable, if its name does not follow from the row's."""
    default_text: str | None = None
    """Describes a default that depends on other settings."""
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    in_file: bool = True

    @property
    def env(self) -> str:
        return self.variable or OWN_PREFIX + self.name.upper()

    @property
    def secret(self) -> bool:
        """Whether the value must never be shown."""
        return self.kind in (Kind.KEY, Kind.SECRET, Kind.SECRETS, Kind.TOKEN, Kind.MAIL_SERVER)


HOUR: Final = 3_600
DAY: Final = 24 * HOUR


def _count(name: str, low: int, high: int, doc: str) -> Setting:
    return Setting(name=name, kind=Kind.COUNT, low=low, high=high, doc=doc)


TABLE: Final = (
    Setting(
        name="host",
        flag="--host",
        kind=Kind.HOST,
        doc="Address that `assent serve` listens on. The default is reachable from this machine only.",
    ),
    Setting(
        name="port",
        flag="--port",
        kind=Kind.COUNT,
        low=1,
        high=65_535,
        doc="Port that `assent serve` listens on.",
    ),
    Setting(
        name="data_dir",
        flag="--data-dir",
        kind=Kind.PATH,
        default_text="`assent` in the user's data directory (`~/.local/share/assent`)",
        doc="Holds the embedded database, its secrets and the settings file. Made on first use, mode 0700.",
    ),
    Setting(
        name="database_url",
        flag="--database-url",
        kind=Kind.DATABASE,
        default_text="`assent.db` in the data directory",
        doc="The store: a SQLite file, or PostgreSQL.",
    ),
    Setting(
        name="base_url",
        flag="--base-url",
        kind=Kind.ORIGIN,
        default_text="`http://localhost:{port}`, or https with `tls_cert`",
        doc="The address at which browsers reach this server; every link in an answer starts with it. The default is "
        "`http://{host}:{port}` where the server does not listen on both loopback addresses.",
    ),
    Setting(
        name="tls_cert",
        flag="--tls-cert",
        kind=Kind.FILE,
        doc="The certificate with which `assent serve` speaks https, in PEM. "
        "Behind a proxy that speaks https it is not needed.",
    ),
    Setting(
        name="tls_key",
        flag="--tls-key",
        kind=Kind.FILE,
        doc="The private key of `tls_cert`, in PEM.",
    ),
    Setting(
        name="api_key",
        kind=Kind.KEY,
        doc="Workspace key that `assent stdio` works with. Without one it uses the local default workspace.",
    ),
    _count(
        "rate_limit_per_minute",
        1,
        1_000_000_000,
        "Calls a workspace may make in a minute, unless `assent workspace rate` gives it a number of its own.",
    ),
    _count(
        "page_limit_per_minute",
        1,
        1_000_000_000,
        "Pages that one review link, one signed-in browser or one address at the sign-in page may ask for in a "
        "minute, beside the calls; for public pages ten times as many.",
    ),
    Setting(
        name="metrics_key",
        kind=Kind.TOKEN,
        doc="The bearer token with which `/metrics` is read. Without it only a server that no one but this machine "
        "reaches shows them.",
    ),
    _count(
        "signups_per_hour",
        0,
        1_000_000_000,
        "Workspaces an address may ask for in an hour. 0 closes sign-up, the default of a public server. The key is "
        "shown at once on this machine alone; elsewhere once a mail is confirmed or an owner lets the person in.",
    ),
    _count(
        "storage_quota_mb",
        1,
        1_000_000_000,
        "Megabytes that the calls of a workspace may store in a day (UTC). Stored actions can still be decided, "
        "sent and read.",
    ),
    _count(
        "held_after",
        1,
        1_000_000,
        "How many waiting actions one key may propose in ten minutes before people are asked about the rest as one "
        "question, in the inbox and by one notification.",
    ),
    _count(
        "max_connections",
        8,
        1_000_000,
        "Connections that one process serves at a time. It serves fewer where the system gives it too few file "
        "descriptors (`ulimit -n`); at the limit the connection that has waited longest for its client is ended.",
    ),
    Setting(
        name="run_token_secret",
        variable="RUN_TOKEN_SECRET",
        kind=Kind.SECRET,
        default_text="made on first start with SQLite; required with PostgreSQL",
        doc="Signs review links.",
    ),
    Setting(
        name="run_token_secret_previous",
        variable="RUN_TOKEN_SECRET_PREVIOUS",
        kind=Kind.SECRETS,
        doc="Earlier values of `RUN_TOKEN_SECRET`: links they signed stay valid until they expire.",
    ),
    Setting(
        name="secret",
        kind=Kind.SECRET,
        default_text="made on first start with SQLite; required with PostgreSQL",
        doc="The master secret; every key that is not the review link's is derived from it.",
    ),
    Setting(
        name="secret_previous",
        kind=Kind.SECRETS,
        doc="Earlier values of `ASSENT_SECRET`: what they signed or sealed stays readable.",
    ),
    Setting(
        name="toolsets",
        kind=Kind.NAMES,
        choices=TOOLSETS,
        doc="Which groups of tools are listed; `gate` always is. `legacy` has the `chiefmo_*` names. A tool can be "
        "called whether it is listed or not, and a key may have groups of its own.",
    ),
    Setting(
        name="policy",
        kind=Kind.CHOICE,
        choices=("relay", "people", "two_people"),
        default_text="`relay`; `serve` asks at its first start on a terminal",
        doc="Who may approve in new workspaces. `relay`: an agent with a full key may pass on a person's yes for low "
        "and medium risk. `people`: a signed-in person decides everything. `two_people`: high risk needs two of them.",
    ),
    Setting(
        name="open_discovery",
        kind=Kind.SWITCH,
        doc="Let a client without a key list the tools and call the public ones; with `oauth` on this machine alone.",
    ),
    Setting(
        name="oauth",
        kind=Kind.SWITCH,
        doc="Let clients sign in with OAuth: a person allows it on a page, and no key is pasted. It needs https, or an "
        "address of this machine.",
    ),
    Setting(
        name="allowed_hosts",
        kind=Kind.NAMES,
        doc="Further Host names to answer to. Loopback and the host of `base_url` are always allowed.",
    ),
    Setting(
        name="allowed_origins",
        kind=Kind.NAMES,
        doc="Further web origins whose pages may call. Loopback and `base_url` are always allowed.",
    ),
    Setting(
        name="trust_proxy_headers",
        kind=Kind.SWITCH,
        doc="Take the client's address from `X-Forwarded-For`. Only behind a proxy that sets it.",
    ),
    Setting(
        name="log_level",
        flag="--log-level",
        kind=Kind.CHOICE,
        choices=("debug", "info", "warning", "error"),
        doc="The least severe log line to write. Logs go to standard error, never to standard output.",
    ),
    Setting(
        name="log_format",
        flag="--log-format",
        kind=Kind.CHOICE,
        choices=("auto", "json", "text"),
        doc="JSON lines, readable text, or text on a terminal and JSON elsewhere.",
    ),
    Setting(
        name="connector_timeout_seconds",
        kind=Kind.SECONDS,
        low=0,
        high=HOUR,
        doc="How long a provider may take to perform one action.",
    ),
    _count(
        "drain_seconds",
        0,
        600,
        "How long a server goes on after SIGTERM while `/readyz` answers 503: longer than a balancer needs to see it.",
    ),
    _count("review_ttl_seconds", 1, 365 * DAY, "How long a review link is valid."),
    _count(
        "undo_seconds", 0, 600, "How long “Approve and send” on a page waits, so that a person can undo it."
    ),
    _count(
        "client_dialog_seconds",
        0,
        HOUR,
        "How long a person may take to answer in the dialog of their client, where the policy asks for one; 0 for "
        "no dialogs. `assent keys create --no-client-dialog` switches them off for one key.",
    ),
    Setting(
        name="measure_after_seconds",
        kind=Kind.SECONDS,
        low=0,
        high=365 * DAY,
        doc="How long after something went out its results are read.",
    ),
    Setting(
        name="allow_hosts",
        kind=Kind.NAMES,
        of_owner=True,
        doc="Hosts on private addresses that outgoing requests may reach, also without https and on any port.",
    ),
    Setting(
        name="credit_prices",
        kind=Kind.PRICES,
        doc="What an action costs in credits, by its connector, such as `zernio=2, resend=1`; the others are free. "
        "`assent workspace credits` limits what a workspace can spend.",
    ),
    Setting(
        name="owner_workspaces",
        kind=Kind.NAMES,
        default_text="the default workspace",
        doc="The ids of the workspaces that use what these settings bring: `operators`, `[effect.NAME]`, the clients "
        "of providers, `smtp_url` as a way to send, the model, `workflow_dirs`, `allow_hosts`. Any other workspace "
        "neither sees nor reaches them. `all` means every workspace, also one that a stranger signs up for.",
    ),
    Setting(
        name="workflow_dirs",
        kind=Kind.FOLDERS,
        doc="Folders with workflow definitions of your own, read beside the built-in ones.",
    ),
    Setting(
        name="operators",
        flag="--operators",
        kind=Kind.OPERATORS,
        doc="Operators of your own: Python files, and modules of installed packages. One that cannot be loaded is "
        "left out, which the log and `assent doctor` say.",
    ),
    Setting(
        name="extensions",
        kind=Kind.NAMES,
        doc="Installed packages whose extensions are loaded (entry point group `assent.extensions`), by the names of "
        "their distributions. Their code runs in the server. The packages of Assent need no entry here.",
    ),
    Setting(
        name="workflow_checkpoints",
        kind=Kind.SWITCH,
        doc="Offer workflow_checkpoint, which keeps notes between the steps of a workflow.",
    ),
    _count(
        "workflow_retention_days",
        1,
        36_500,
        "How long a session of workflows is kept after it was last touched. Journal and actions stay.",
    ),
    _count(
        "content_retention_days",
        0,
        36_500,
        "How long the content of decided actions is kept; then a daily job erases it. Waiting actions, statuses and "
        "the journal stay. 0 keeps everything.",
    ),
    Setting(
        name="execution_lease_seconds",
        kind=Kind.SECONDS,
        low=0,
        high=DAY,
        doc="How long an execution may take before its outcome counts as unknown.",
    ),
    Setting(
        name="smtp_url",
        kind=Kind.MAIL_SERVER,
        of_owner=True,
        doc="The mail server of the owner's workspaces that have connected none of their own, and of the server's own "
        "mail. `smtp://` encrypts with STARTTLS "
        "(`?starttls=never` does not), `smtps://` from the start; special characters of user and "
        "password percent-encoded.",
    ),
    Setting(
        name="smtp_from",
        kind=Kind.MAILBOX,
        of_owner=True,
        doc="The sender of e-mails, unless an action names another.",
    ),
    Setting(
        name="open_browser",
        flag="--no-open",
        kind=Kind.SWITCH,
        doc="Let `assent serve` open the owner's one-time link in a browser: on a terminal with a display, while no "
        "browser of the owner is signed in.",
    ),
    Setting(
        name="oidc_issuer",
        kind=Kind.ENDPOINT,
        doc="The OpenID Connect issuer with which people [sign in](sign-in.md). The address to register there is "
        "`{base_url}/sign-in/oidc/callback`.",
    ),
    Setting(
        name="oidc_client_id",
        kind=Kind.TEXT,
        doc="This server's client id with the issuer.",
    ),
    Setting(
        name="oidc_client_secret",
        kind=Kind.TOKEN,
        doc="The secret that belongs to `ASSENT_OIDC_CLIENT_ID`; none for a public client.",
    ),
    Setting(
        name="oidc_name",
        kind=Kind.TEXT,
        default_text="the host of the issuer",
        doc="The issuer's name on the button “Sign in with …”.",
    ),
    Setting(
        name="oidc_domains",
        kind=Kind.NAMES,
        doc="Domains whose verified e-mail addresses may sign in with the issuer.",
    ),
    Setting(
        name="oidc_workspaces",
        kind=Kind.NAMES,
        doc="Workspaces (name or id) of everyone who signs in by a domain. No sign-up gets a name from the settings.",
    ),
    Setting(
        name="oidc_claim",
        kind=Kind.TEXT,
        doc="The claim whose values give roles; `a.b` names a part of a claim.",
    ),
    Setting(
        name="oidc_owners",
        kind=Kind.NAMES,
        doc="Values of that claim that make an owner.",
    ),
    Setting(
        name="oidc_members",
        kind=Kind.ROLES,
        doc="Values of that claim that make a member, each with a workspace (name or id).",
    ),
    _count("pool_size", 1, 1_000, "Connections to PostgreSQL of one process."),
    Setting(
        name="statement_cache",
        kind=Kind.CHOICE,
        choices=("auto", "on", "off"),
        doc="Whether connections to PostgreSQL keep prepared statements. `auto` keeps them unless a pooler is between; "
        "`on` is faster through a pooler that keeps them, too; `off` is for a pooler that cannot be seen.",
    ),
    Setting(
        name="no_color",
        variable="NO_COLOR",
        kind=Kind.PRESENCE,
        in_file=False,
        doc="Write no colors to the terminal.",
    ),
)

BY_NAME: Final = {row.name: row for row in TABLE}

CONFIG_ENV: Final = "ASSENT_CONFIG"
CONFIG_FLAG: Final = "--config"
CONFIG_FILE: Final = "assent.toml"
SECTIONS: Final = "extension"
"""The table of the file whose sections are settings of extensions."""
EFFECTS: Final = "effect"
"""The table of the file whose sections are HTTP effects."""
