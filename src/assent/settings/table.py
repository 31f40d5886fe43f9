"""All settings in one table: name, sources, allowed values and purpose.

The loader, the settings page of the docs and `assent doctor` read it. `assent.settings.load` defines the precedence.
"""

from __future__ import annotations

from typing import Final

from assent.kernel.limits import (
    MAX_CONNECTIONS,
    PAGES_PER_MINUTE,
    RATE_LIMIT_PER_MINUTE,
    SIGNUPS_PER_HOUR,
    STORAGE_QUOTA_MB,
)
from assent.kernel.toolsets import DEFAULT_TOOLSETS, TOOLSETS
from assent.settings.kinds import Kind, Setting

HOUR: Final = 3_600
DAY: Final = 24 * HOUR

TABLE: Final[tuple[Setting, ...]] = (
    Setting(
        name="host",
        env="ASSENT_HOST",
        flag="--host",
        kind=Kind.HOST,
        default="127.0.0.1",
        doc="Address that `assent serve` listens on. The default is reachable from this machine only.",
    ),
    Setting(
        name="port",
        env="ASSENT_PORT",
        flag="--port",
        kind=Kind.COUNT,
        low=1,
        high=65_535,
        default=8080,
        doc="Port that `assent serve` listens on.",
    ),
    Setting(
        name="data_dir",
        env="ASSENT_DATA_DIR",
        flag="--data-dir",
        kind=Kind.PATH,
        default_text="`assent` in the user's data directory (`~/.local/share/assent`)",
        doc="Holds the embedded database, its secrets and the settings file. Made on first use, mode 0700.",
    ),
    Setting(
        name="database_url",
        env="ASSENT_DATABASE_URL",
        flag="--database-url",
        kind=Kind.DATABASE,
        default_text="`assent.db` in the data directory",
        doc="The store: a SQLite file, or PostgreSQL.",
    ),
    Setting(
        name="base_url",
        env="ASSENT_BASE_URL",
        flag="--base-url",
        kind=Kind.ORIGIN,
        default_text="`http://{host}:{port}`",
        doc="The address at which browsers reach this server; every link in an answer starts with it.",
    ),
    Setting(
        name="api_key",
        env="ASSENT_API_KEY",
        kind=Kind.KEY,
        doc="Workspace key that `assent stdio` works with. Without one it uses the local default workspace.",
    ),
    Setting(
        name="rate_limit_per_minute",
        env="ASSENT_RATE_LIMIT_PER_MINUTE",
        kind=Kind.COUNT,
        low=1,
        high=1_000_000_000,
        default=RATE_LIMIT_PER_MINUTE,
        doc="Calls a workspace may make in a minute.",
    ),
    Setting(
        name="page_limit_per_minute",
        env="ASSENT_PAGE_LIMIT_PER_MINUTE",
        kind=Kind.COUNT,
        low=1,
        high=1_000_000_000,
        default=PAGES_PER_MINUTE,
        doc="Pages that one review link, one signed-in browser or one address at the sign-in page may ask for in a "
        "minute, beside the calls; for public pages ten times as many.",
    ),
    Setting(
        name="signups_per_hour",
        env="ASSENT_SIGNUPS_PER_HOUR",
        kind=Kind.COUNT,
        low=0,
        high=1_000_000_000,
        default=SIGNUPS_PER_HOUR,
        doc="Workspaces that one client address may sign up for in an hour. 0 closes signup.",
    ),
    Setting(
        name="storage_quota_mb",
        env="ASSENT_STORAGE_QUOTA_MB",
        kind=Kind.COUNT,
        low=1,
        high=1_000_000_000,
        default=STORAGE_QUOTA_MB,
        doc="Megabytes that the calls of a workspace may store in a day (UTC). What is stored can still be decided, "
        "sent and read.",
    ),
    Setting(
        name="max_connections",
        env="ASSENT_MAX_CONNECTIONS",
        kind=Kind.COUNT,
        low=8,
        high=1_000_000,
        default=MAX_CONNECTIONS,
        doc="Connections that one process serves at a time. It serves fewer where the system gives it too few file "
        "descriptors (`ulimit -n`); at the limit the connection that has waited longest for its client is ended.",
    ),
    Setting(
        name="run_token_secret",
        env="RUN_TOKEN_SECRET",
        kind=Kind.SECRET,
        default_text="made on first start with SQLite; required with PostgreSQL",
        doc="Signs review links.",
    ),
    Setting(
        name="run_token_secret_previous",
        env="RUN_TOKEN_SECRET_PREVIOUS",
        kind=Kind.SECRETS,
        default=(),
        doc="Earlier values of `RUN_TOKEN_SECRET`: links they signed stay valid until they expire.",
    ),
    Setting(
        name="secret",
        env="ASSENT_SECRET",
        kind=Kind.SECRET,
        default_text="made on first start with SQLite; required with PostgreSQL",
        doc="The master secret; every key that is not the review link's is derived from it.",
    ),
    Setting(
        name="secret_previous",
        env="ASSENT_SECRET_PREVIOUS",
        kind=Kind.SECRETS,
        default=(),
        doc="Earlier values of `ASSENT_SECRET`: what they signed or sealed stays readable.",
    ),
    Setting(
        name="toolsets",
        env="ASSENT_TOOLSETS",
        kind=Kind.NAMES,
        choices=TOOLSETS,
        default=DEFAULT_TOOLSETS,
        doc="Which groups of tools are listed; `gate` always is. `legacy` has the `chiefmo_*` names. A tool can be "
        "called whether it is listed or not, and a key may have groups of its own.",
    ),
    Setting(
        name="open_discovery",
        env="ASSENT_OPEN_DISCOVERY",
        kind=Kind.SWITCH,
        default=True,
        doc="Let a client without a key list the tools and call the public ones.",
    ),
    Setting(
        name="allowed_hosts",
        env="ASSENT_ALLOWED_HOSTS",
        kind=Kind.NAMES,
        default=(),
        doc="Further Host names to answer to. Loopback and the host of `base_url` are always allowed.",
    ),
    Setting(
        name="allowed_origins",
        env="ASSENT_ALLOWED_ORIGINS",
        kind=Kind.NAMES,
        default=(),
        doc="Further web origins whose pages may call. Loopback and `base_url` are always allowed.",
    ),
    Setting(
        name="trust_proxy_headers",
        env="ASSENT_TRUST_PROXY_HEADERS",
        kind=Kind.SWITCH,
        default=False,
        doc="Take the client's address from `X-Forwarded-For`. Only behind a proxy that sets it.",
    ),
    Setting(
        name="log_level",
        env="ASSENT_LOG_LEVEL",
        flag="--log-level",
        kind=Kind.CHOICE,
        choices=("debug", "info", "warning", "error"),
        default="info",
        doc="The least severe log line to write. Logs go to standard error, never to standard output.",
    ),
    Setting(
        name="log_format",
        env="ASSENT_LOG_FORMAT",
        flag="--log-format",
        kind=Kind.CHOICE,
        choices=("auto", "json", "text"),
        default="auto",
        doc="JSON lines, readable text, or text on a terminal and JSON elsewhere.",
    ),
    Setting(
        name="connector_timeout_seconds",
        env="ASSENT_CONNECTOR_TIMEOUT_SECONDS",
        kind=Kind.SECONDS,
        low=0,
        high=HOUR,
        default=20.0,
        doc="How long a provider may take to perform one action.",
    ),
    Setting(
        name="review_ttl_seconds",
        env="ASSENT_REVIEW_TTL_SECONDS",
        kind=Kind.COUNT,
        low=1,
        high=365 * DAY,
        default=7 * DAY,
        doc="How long a review link is valid.",
    ),
    Setting(
        name="measure_after_seconds",
        env="ASSENT_MEASURE_AFTER_SECONDS",
        kind=Kind.SECONDS,
        low=0,
        high=365 * DAY,
        default=float(DAY),
        doc="How long after something went out its results are read.",
    ),
    Setting(
        name="allow_hosts",
        env="ASSENT_ALLOW_HOSTS",
        kind=Kind.NAMES,
        default=(),
        doc="Hosts on private addresses that outgoing requests may reach, also without https and on any port.",
    ),
    Setting(
        name="credit_prices",
        env="ASSENT_CREDIT_PRICES",
        kind=Kind.PRICES,
        default=(),
        doc="What an action costs in credits, by its connector, such as `zernio=2, resend=1`; the others are free. "
        "`assent workspace credits` limits what a workspace can spend.",
    ),
    Setting(
        name="workflow_dirs",
        env="ASSENT_WORKFLOW_DIRS",
        kind=Kind.FOLDERS,
        default=(),
        doc="Folders with workflow definitions of your own, read beside the built-in ones.",
    ),
    Setting(
        name="font_dirs",
        env="ASSENT_FONT_DIRS",
        kind=Kind.FOLDERS,
        default=("/usr/share/fonts",),
        doc="Folders with fonts for pictures, asked for characters that the fonts of Assent do not have.",
    ),
    Setting(
        name="workflow_checkpoints",
        env="ASSENT_WORKFLOW_CHECKPOINTS",
        kind=Kind.SWITCH,
        default=True,
        doc="Offer workflow_checkpoint, which keeps notes between the steps of a workflow.",
    ),
    Setting(
        name="workflow_retention_days",
        env="ASSENT_WORKFLOW_RETENTION_DAYS",
        kind=Kind.COUNT,
        low=1,
        high=36_500,
        default=90,
        doc="How long a session of workflows is kept after it was last touched. Journal and actions stay.",
    ),
    Setting(
        name="execution_lease_seconds",
        env="ASSENT_EXECUTION_LEASE_SECONDS",
        kind=Kind.SECONDS,
        low=0,
        high=DAY,
        default=60.0,
        doc="How long an execution is believed to be alive before its outcome counts as unknown.",
    ),
    Setting(
        name="smtp_url",
        env="ASSENT_SMTP_URL",
        kind=Kind.MAIL_SERVER,
        doc="The mail server of workspaces that have connected none of their own. `smtp://` encrypts with STARTTLS "
        "(`?starttls=never` does not), `smtps://` from the start; special characters of user and "
        "password percent-encoded.",
    ),
    Setting(
        name="smtp_from",
        env="ASSENT_SMTP_FROM",
        kind=Kind.MAILBOX,
        doc="Whom e-mails come from, unless an action names another sender.",
    ),
    Setting(
        name="zernio_url",
        env="ASSENT_ZERNIO_URL",
        kind=Kind.ENDPOINT,
        default="https://zernio.com/api",
        doc="Where Zernio is reached; its paths (`/v1/…`) follow.",
    ),
    Setting(
        name="bluesky_url",
        env="ASSENT_BLUESKY_URL",
        kind=Kind.ENDPOINT,
        default="https://bsky.social",
        doc="The server of Bluesky accounts, or another one of the AT Protocol; its paths (`/xrpc/…`) follow.",
    ),
    Setting(
        name="resend_url",
        env="ASSENT_RESEND_URL",
        kind=Kind.ENDPOINT,
        default="https://api.resend.com",
        doc="Where Resend is reached; its paths (`/emails`) follow.",
    ),
    Setting(
        name="model_url",
        env="ASSENT_MODEL_URL",
        kind=Kind.ENDPOINT,
        doc="A model that may write drafts, by the address that its paths follow (`https://…/v1`). Without one, and "
        "whenever it fails, drafts are composed from the evidence alone.",
    ),
    Setting(
        name="model_kind",
        env="ASSENT_MODEL_KIND",
        kind=Kind.CHOICE,
        choices=("openai", "anthropic"),
        default="openai",
        doc="How the model is spoken to: chat completions, or messages.",
    ),
    Setting(
        name="model_name",
        env="ASSENT_MODEL_NAME",
        kind=Kind.TEXT,
        doc="Which model is asked for.",
    ),
    Setting(
        name="model_api_key",
        env="ASSENT_MODEL_API_KEY",
        kind=Kind.TOKEN,
        doc="The key for the model, if it wants one.",
    ),
    Setting(
        name="google_client_id",
        env="ASSENT_GOOGLE_CLIENT_ID",
        kind=Kind.TEXT,
        doc="This server as an app with Google, for Analytics and Search Console: its client id. The address to "
        "register is `{base_url}/connect/ga4/callback`, and the same with `search_console`.",
    ),
    Setting(
        name="google_client_secret",
        env="ASSENT_GOOGLE_CLIENT_SECRET",
        kind=Kind.TOKEN,
        doc="The secret that belongs to `ASSENT_GOOGLE_CLIENT_ID`.",
    ),
    Setting(
        name="google_oauth_url",
        env="ASSENT_GOOGLE_OAUTH_URL",
        kind=Kind.ENDPOINT,
        default_text="Google's own addresses",
        doc="Where Google's consent page and token endpoint are.",
    ),
    Setting(
        name="ga4_url",
        env="ASSENT_GA4_URL",
        kind=Kind.ENDPOINT,
        default="https://analyticsdata.googleapis.com",
        doc="Where Google Analytics 4 gives reports.",
    ),
    Setting(
        name="search_console_url",
        env="ASSENT_SEARCH_CONSOLE_URL",
        kind=Kind.ENDPOINT,
        default="https://searchconsole.googleapis.com",
        doc="Where Google Search Console is asked.",
    ),
    Setting(
        name="hubspot_client_id",
        env="ASSENT_HUBSPOT_CLIENT_ID",
        kind=Kind.TEXT,
        doc="This server as an app with HubSpot: its client id. The address to register is "
        "`{base_url}/connect/hubspot/callback`.",
    ),
    Setting(
        name="hubspot_client_secret",
        env="ASSENT_HUBSPOT_CLIENT_SECRET",
        kind=Kind.TOKEN,
        doc="The secret that belongs to `ASSENT_HUBSPOT_CLIENT_ID`.",
    ),
    Setting(
        name="hubspot_url",
        env="ASSENT_HUBSPOT_URL",
        kind=Kind.ENDPOINT,
        default="https://api.hubapi.com",
        doc="Where HubSpot is asked. At another address its consent page is expected there too.",
    ),
    Setting(
        name="pool_size",
        env="ASSENT_POOL_SIZE",
        kind=Kind.COUNT,
        low=1,
        high=1_000,
        default=10,
        doc="Connections to PostgreSQL of one process.",
    ),
    Setting(
        name="no_color",
        env="NO_COLOR",
        kind=Kind.PRESENCE,
        default=False,
        in_file=False,
        doc="Write no colors to the terminal.",
    ),
)

BY_NAME: Final = {row.name: row for row in TABLE}
BY_ENV: Final = {row.env: row for row in TABLE}

CONFIG_ENV: Final = "ASSENT_CONFIG"
CONFIG_FLAG: Final = "--config"
CONFIG_FILE: Final = "assent.toml"
OWN_PREFIX: Final = "ASSENT_"
"""Prefix of our variables. An unknown one is probably a mistake and gets a warning."""
