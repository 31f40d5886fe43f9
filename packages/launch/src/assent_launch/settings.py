"""The settings of providers, pictures and the model that writes. Loaded at each start, so it imports little."""

from __future__ import annotations

from typing import Final

from assent.sdk import Kind, Setting

SETTINGS: Final = (
    Setting(
        name="zernio_url",
        kind=Kind.ENDPOINT,
        default="https://zernio.com/api",
        doc="Where Zernio is reached; its paths (`/v1/…`) follow.",
    ),
    Setting(
        name="bluesky_url",
        kind=Kind.ENDPOINT,
        default="https://bsky.social",
        doc="The server of Bluesky accounts, or another one of the AT Protocol; its paths (`/xrpc/…`) follow.",
    ),
    Setting(
        name="resend_url",
        kind=Kind.ENDPOINT,
        default="https://api.resend.com",
        doc="Where Resend is reached; its paths (`/emails`) follow.",
    ),
    Setting(
        name="model_url",
        kind=Kind.ENDPOINT,
        of_owner=True,
        doc="A model that may write drafts, by the address that its paths follow (`https://…/v1`). Without one, and "
        "whenever it fails, a missing text is a plain note of the product's own facts.",
    ),
    Setting(
        name="model_kind",
        kind=Kind.CHOICE,
        default="openai",
        choices=("openai", "anthropic"),
        doc="The model's API: chat completions, or messages.",
    ),
    Setting(
        name="model_name",
        kind=Kind.TEXT,
        of_owner=True,
        doc="The name of the model.",
    ),
    Setting(
        name="model_api_key",
        kind=Kind.TOKEN,
        of_owner=True,
        doc="The key for the model, if it wants one.",
    ),
    Setting(
        name="google_client_id",
        kind=Kind.TEXT,
        of_owner=True,
        doc="This server as an app with Google, for Analytics and Search Console: its client id. The address to "
        "register is `{base_url}/connect/ga4/callback`, and the same with `search_console`.",
    ),
    Setting(
        name="google_client_secret",
        kind=Kind.TOKEN,
        of_owner=True,
        doc="The secret that belongs to `ASSENT_GOOGLE_CLIENT_ID`.",
    ),
    Setting(
        name="google_oauth_url",
        kind=Kind.ENDPOINT,
        default_text="Google's own addresses",
        doc="Where Google's consent page and token endpoint are.",
    ),
    Setting(
        name="ga4_url",
        kind=Kind.ENDPOINT,
        default="https://analyticsdata.googleapis.com",
        doc="The address of Google Analytics 4's API.",
    ),
    Setting(
        name="search_console_url",
        kind=Kind.ENDPOINT,
        default="https://searchconsole.googleapis.com",
        doc="The address of Google Search Console's API.",
    ),
    Setting(
        name="hubspot_client_id",
        kind=Kind.TEXT,
        of_owner=True,
        doc="This server as an app with HubSpot: its client id. The address to register is "
        "`{base_url}/connect/hubspot/callback`.",
    ),
    Setting(
        name="hubspot_client_secret",
        kind=Kind.TOKEN,
        of_owner=True,
        doc="The secret that belongs to `ASSENT_HUBSPOT_CLIENT_ID`.",
    ),
    Setting(
        name="hubspot_url",
        kind=Kind.ENDPOINT,
        default="https://api.hubapi.com",
        doc="The address of HubSpot's API. At another address its consent page is expected there, too.",
    ),
    Setting(
        name="font_dirs",
        kind=Kind.FOLDERS,
        default=("/usr/share/fonts",),
        doc="Folders with fonts for characters in pictures that the fonts of Assent do not have.",
    ),
)
