"""Tables of the sources of facts: their names in claims and the brain, and their uses."""

from __future__ import annotations

from typing import Final

SOURCES: Final[dict[str, str]] = {
    "brand_name": "the brand's name",
    "brand_audience": "the brand's audience",
    "brand_voice": "the brand's voice",
    "brand_pillar": "a pillar of the brand",
    "page_site_name": "the product page's name",
    "page_title": "the product page's title",
    "page_description": "the product page's description",
    "og_title": "the product page's OpenGraph title",
    "og_description": "the product page's OpenGraph description",
    "headline": "the product page's headline",
    "heading": "a heading of the product page",
    "page_text": "a paragraph of the product page",
    "readme_title": "the README's title",
    "readme": "a paragraph of the README",
    "readme_feature": "a bullet of the README",
    "version": "the version",
    "whatChanged": "what changed",
    "commit": "a commit",
    "changedFile": "a changed file",
    "route": "a route",
    "targetCustomer": "the target customer",
    "launchGoal": "the goal of the launch",
    "repo_fact": "a remembered fact about the product",
    "proof": "a proof",
    "voice_sample": "a sample of the voice",
}
"""Every source with its name in a sentence."""

VALUE_SOURCES: Final = (
    "page_description",
    "og_description",
    "readme",
    "repo_fact",
    "headline",
    "page_text",
    "og_title",
    "page_title",
)
"""Sources of a product's description, best first."""
FEATURE_SOURCES: Final = ("readme_feature", "heading", "repo_fact")
CHANGE_SOURCES: Final = ("whatChanged", "commit")

MEMORY_SOURCES: Final[dict[str, str]] = {
    "voice_sample": "voice_sample",
    "brand_voice": "brand_voice",
    "proof": "proof",
    "proof_asset": "proof",
    "repo_fact": "repo_fact",
    "repo_facts": "repo_fact",
}
"""Kinds of brain entries that are facts, with their source. `lessons` reads the others."""
