"""A picture of a run: its asset, its path, and as media of an effect. Pure."""

from __future__ import annotations

from typing import Final

from assent.gate.records import Asset, Media
from assent.kernel.canonical import DIGEST_PREFIX
from assent.kernel.ids import RunId

IMAGE: Final = "image"
"""The type of a picture asset, and the kind of an attached picture."""


def name_path(run_id: str, digest: str) -> str:
    """Return the path where a run shows a picture."""
    return f"/runs/{run_id}/pictures/{digest.removeprefix(DIGEST_PREFIX)}.png"


def make_media(asset: Asset, run_id: RunId, base_url: str) -> Media | None:
    """Return a picture asset as media of an action; None if the asset is no picture."""
    digest = asset.metadata.get("digest")
    if asset.type != IMAGE or not isinstance(digest, str):
        return None
    return Media(kind=IMAGE, url=base_url + name_path(run_id, digest), alt=asset.body, digest=digest)
