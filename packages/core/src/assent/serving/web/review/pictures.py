"""The pictures of an action on the review page: the attached one and its alternatives. Pure."""

from __future__ import annotations

import msgspec

from assent.engine.views.review import RunReview
from assent.gate.pictures import IMAGE, name_path
from assent.gate.records import Action, Asset
from assent.kernel.structs import Record


class ShownPicture(Record):
    """Only variants have an id to select them by."""

    address: str
    alt: str
    width: int
    height: int
    name: str
    title: str
    asset_id: str
    goes_along: bool


class Pictures(Record):
    """`along` is sent. `choices` are all variants, including that one."""

    along: tuple[ShownPicture, ...]
    choices: tuple[ShownPicture, ...]


def of_action(found: RunReview, action: Action) -> Pictures:
    """The attached pictures of an action and their alternatives."""
    sent = {media.digest for media in action.effect.media if media.digest}
    made = [
        (each.channel, _show(action.run_id, each, each.metadata["digest"] in sent))
        for each in list_pictures(found)
    ]
    choices = tuple(view for channel, view in made if channel == action.effect.channel)
    of_run = {view.address: view for _, view in made}
    along = []
    for each in list_attached(action):
        known = of_run.get(each.address)
        if known is None:
            along.append(msgspec.structs.replace(each, name="Picked from another run"))
        else:
            along.append(msgspec.structs.replace(known, alt=each.alt))
    return Pictures(tuple(along), choices)


def list_attached(action: Action) -> tuple[ShownPicture, ...]:
    return tuple(
        ShownPicture(name_path(action.run_id, media.digest), media.alt, 0, 0, "", "", "", True)
        for media in {media.digest: media for media in action.effect.media if media.digest}.values()
    )


def list_unattached(found: RunReview) -> tuple[ShownPicture, ...]:
    """Pictures without a post for their channel."""
    channels = {action.effect.channel for action in found.actions}
    return tuple(
        _show(found.run.run_id, each, False) for each in list_pictures(found) if each.channel not in channels
    )


def list_pictures(found: RunReview) -> list[Asset]:
    """The pictures that a run made, in gallery order."""
    made = [each for each in found.assets if each.type == IMAGE and "digest" in each.metadata]
    return sorted(made, key=lambda each: (each.channel or "", str(each.metadata.get("variant", "~"))))


def _show(run_id: str, asset: Asset, goes_along: bool) -> ShownPicture:
    facts = asset.metadata
    return ShownPicture(
        address=name_path(run_id, facts["digest"]),
        alt=asset.body,
        width=facts.get("width", 0),
        height=facts.get("height", 0),
        name=str(facts.get("variant", "")).capitalize() or asset.title,
        title=asset.title,
        asset_id=asset.asset_id,
        goes_along=goes_along,
    )
