"""The issuer with which people sign in, from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assent.ports import Store, StoreUnavailable
from assent.settings.load import Settings, SettingsError

if TYPE_CHECKING:
    from assent.serving.web.people.oidc import OidcSignIn


def offer_oidc(settings: Settings) -> OidcSignIn | None:
    """Return the issuer and who may come in, or None if the settings name no issuer."""
    from assent.engine.people.oidc import AdmissionRules
    from assent.net.oidc import OidcClient, OidcIssuer
    from assent.serving.web.people.oidc import OidcSignIn

    if settings.oidc_issuer is None or settings.oidc_client_id is None:
        return None
    client = OidcClient(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret,
        name=settings.oidc_name or urlsplit(settings.oidc_issuer).hostname or settings.oidc_issuer,
        allow_hosts=settings.allow_hosts,
    )
    pairs = (each.rpartition("=") for each in settings.oidc_members)
    rules = AdmissionRules(
        domains=settings.oidc_domains,
        claim=settings.oidc_claim,
        owners=settings.oidc_owners,
        members=tuple((value, workspace) for value, _, workspace in pairs),
        workspaces=settings.oidc_workspaces if settings.oidc_domains else (),
    )
    return OidcSignIn(OidcIssuer(client), rules)


async def resolve_workspaces(offered: OidcSignIn | None, store: Store) -> None:
    """Find the workspaces that the rules name; the first sign-in does it if the store is out of reach. Raises
    `SettingsError` if a name is that of several."""
    from assent.engine.people.oidc import SignInDenied

    try:
        if offered is not None:
            await offered.resolve(store)
    except StoreUnavailable:
        return
    except SignInDenied as denied:
        raise SettingsError(
            f"{denied}\nWrite the id of one in oidc_workspaces and oidc_members; see: assent workspace list"
        ) from None
