"""The pictures of a run: what is kept of them, what goes along with its posts, and how answers tell them."""

from __future__ import annotations

from typing import Any

import msgspec

from assent.engine.core.services import Services
from assent.engine.learning import pictures
from assent.gate import guidance
from assent.gate.guidance import AssetView
from assent.gate.records import Asset, Effect, Run
from assent.gate.review_link import LOOK
from assent.ports import Draft, StagedEffect


def describe_picture(services: Services, run: Run, draft: Draft) -> dict[str, Any]:
    """What an asset says about the picture that it is."""
    picture = draft.picture
    if picture is None:
        return {}
    return {
        "url": services.base_url + pictures.path(run.run_id, picture.digest),
        "digest": picture.digest,
        "contentType": picture.content_type,
        "width": picture.width,
        "height": picture.height,
        "bytes": len(picture.content),
        "alt": picture.alt,
    }


def add_address(services: Services, asset: Asset) -> Asset:
    """An asset as it is told: a picture with an address that shows it, and decides nothing, to whoever is told, for as
    long as the review link of its run lives. What is stored has no token in it."""
    if asset.type != pictures.IMAGE or "url" not in asset.metadata:
        return asset
    url = services.review_url(asset.workspace_id, asset.run_id, asset.created_ms, LOOK)
    token = url.partition("token=")[2]
    view_url = f"{asset.metadata['url']}?token={token}"
    return msgspec.structs.replace(asset, metadata={**asset.metadata, "viewUrl": view_url})


def list_images(services: Services, assets: tuple[Asset, ...]) -> tuple[AssetView, ...]:
    """The pictures of a run."""
    return tuple(
        guidance.picture_view(add_address(services, asset))
        for asset in assets
        if asset.type == pictures.IMAGE
    )


def attach_picture(services: Services, run: Run, assets: tuple[Asset, ...], staged: StagedEffect) -> Effect:
    """The effect with the picture that is to go along."""
    if staged.picture is None:
        return staged.effect
    media = pictures.media_of(assets[staged.picture], run.run_id, services.base_url)
    return msgspec.structs.replace(staged.effect, media=(media,)) if media is not None else staged.effect
