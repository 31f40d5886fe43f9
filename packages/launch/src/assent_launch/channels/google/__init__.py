"""Google Analytics and Search Console."""

from __future__ import annotations

from typing import Final

from assent.platform import ChoiceWords, ConnectorInfo, ProviderWords

# Describes the two sources of Google. Imports nothing slow.

GA4: Final = ConnectorInfo(
    id="ga4",
    label="Google Analytics 4",
    icon="results",
    description="Reads visits and conversions.",
    auth_mode="oauth",
    channels=(),
    does=("measure",),
    needed="You sign in at Google and allow reading.",
    connect=ProviderWords(
        gives="Reads sessions and conversions of the pages that a launch leads to.",
        asks="Reading your Analytics. It cannot change anything there.",
        choice=ChoiceWords(
            "Which property is read",
            "Property",
            "A number, in Google Analytics under Admin, Property details.",
            "Enter the number of a property, such as 123456789.",
        ),
    ),
)

SEARCH_CONSOLE: Final = ConnectorInfo(
    id="search_console",
    label="Google Search Console",
    icon="search",
    description="Reads search impressions and clicks; its numbers lag two to three days.",
    auth_mode="oauth",
    channels=(),
    does=("measure",),
    needed="You sign in at Google and allow reading.",
    connect=ProviderWords(
        gives="Reads how often Google’s search showed your pages and how often they were opened.",
        asks="Reading your Search Console. It cannot change anything there.",
        choice=ChoiceWords(
            "Which site is read",
            "Site",
            "As Search Console names it: an address such as https://example.org/, or sc-domain:example.org.",
            "Enter an address with https:// and a slash at its end, or sc-domain: and a domain.",
        ),
    ),
)


CONNECTORS: Final = (GA4, SEARCH_CONSOLE)
