"""The pictures of a run: their metadata, their attachment to posts, their views in answers."""

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
    """Build the metadata of a picture asset."""
    picture = draft.picture
    if picture is None:
        return {}
    return {
        "url": services.links.base_url + pictures.path(run.run_id, picture.digest),
        "digest": picture.digest,
        "contentType": picture.content_type,
        "width": picture.width,
        "height": picture.height,
        "bytes": len(picture.content),
        "alt": picture.alt,
    }


def add_address(services: Services, asset: Asset) -> Asset:
    """Return a picture asset with a read-only URL that is valid as long as the review link of its
    run. The stored asset has no token."""
    if asset.type != pictures.IMAGE or "url" not in asset.metadata:
        return asset
    url = services.links.review_url(asset.workspace_id, asset.run_id, asset.created_ms, LOOK)
    token = url.partition("token=")[2]
    view_url = f"{asset.metadata['url']}?token={token}"
    return msgspec.structs.replace(asset, metadata={**asset.metadata, "viewUrl": view_url})


def list_images(services: Services, assets: tuple[Asset, ...]) -> tuple[AssetView, ...]:
    return tuple(
        guidance.picture_view(add_address(services, asset))
        for asset in assets
        if asset.type == pictures.IMAGE
    )


def attach_picture(services: Services, run: Run, assets: tuple[Asset, ...], staged: StagedEffect) -> Effect:
    if staged.picture is None:
        return staged.effect
    media = pictures.make_media(assets[staged.picture], run.run_id, services.links.base_url)
    return msgspec.structs.replace(staged.effect, media=(media,)) if media is not None else staged.effect
