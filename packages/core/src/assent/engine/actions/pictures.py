"""Pictures in the store, addressed by their digest, so an approved effect names the exact bytes.

A picture is visible only in runs that show it: those that made it, or that have an action with it.
A picture that no action uses is deleted after a while; one in use stays as long as its action.

Knows nothing of drawing and pages.
"""

from __future__ import annotations

import msgspec

from assent.engine.actions import actions
from assent.engine.actions.hooks import Decided, Erased, Staged
from assent.gate.records import IMAGE, Action, Asset, Media, make_media
from assent.kernel.canonical import digest_of_bytes
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.limits import MAX_WORKSPACE_PICTURE_BYTES, PICTURE_RETENTION_MS
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.kernel.structs import from_record, from_row
from assent.ports import NotSent, Picture, Row, Store, Transaction
from assent.sql.loader import statements


def keep(
    workspace_id: WorkspaceId, run_id: RunId, pictures: tuple[Picture, ...], now_ms: int
) -> Transaction[None]:
    """Store the pictures of a run. Refuses if the workspace is over its limit."""
    if not pictures:
        return
    if not (yield from has_room(workspace_id, sum(len(picture.content) for picture in pictures))):
        raise Refusal(Reason.TOO_MANY_PICTURES)
    for picture in pictures:
        yield from_record(
            statements.insert_picture,
            picture,
            workspace_id=workspace_id,
            size=len(picture.content),
            created_ms=now_ms,
        )
        yield from show(workspace_id, run_id, picture.digest)


def keep_staged(staged: Staged) -> Transaction[None]:
    """Store the pictures of a run and show those of its actions. Refuses if the workspace is over its limit."""
    yield from keep(staged.workspace_id, staged.run_id, staged.pictures, staged.at_ms)
    for action in staged.actions:
        yield from show_attached(action)


def show_edited(decided: Decided) -> Transaction[None]:
    """Show the pictures of an action that an edit changed."""
    if "media" in decided.changed:
        yield from show_attached(decided.action)


def forget(erased: Erased) -> Transaction[None]:
    """Delete the pictures of erased content."""
    action = erased.action
    for digest in erased.pictures:
        yield statements.delete_picture_use(
            workspace_id=action.workspace_id, run_id=action.run_id, digest=digest
        )
        yield statements.delete_unused_picture(workspace_id=action.workspace_id, digest=digest)


def has_room(workspace_id: WorkspaceId, size: int) -> Transaction[bool]:
    """Whether the workspace may store so many more bytes."""
    rows = yield statements.sum_pictures(workspace_id=workspace_id)
    return bool(rows[0]["bytes"] + size <= MAX_WORKSPACE_PICTURE_BYTES)


def show(
    workspace_id: WorkspaceId, run_id: RunId, digest: str, *, taken_along: bool = False
) -> Transaction[None]:
    """Make a picture visible in a run."""
    yield statements.use_picture(
        workspace_id=workspace_id, run_id=run_id, digest=digest, kept=int(taken_along)
    )


def show_attached(action: Action) -> Transaction[None]:
    """Make the pictures of an action visible in its run, and keep them."""
    for media in action.effect.media:
        if media.digest:
            yield from show(action.workspace_id, action.run_id, media.digest, taken_along=True)


def pick(action: Action, asset_id: str, base_url: str) -> Transaction[tuple[Media, ...]]:
    """Return the media of an action after a person picked a picture; an empty id removes it."""
    if not asset_id:
        return ()
    asset = yield from actions.find_asset(action.workspace_id, asset_id)
    media = make_media(asset, action.run_id, base_url) if asset is not None else None
    if media is None:
        raise _refuse_asset(asset_id)
    if not action.view.takes_picture:
        expected = "no picture: this channel takes text alone"
        raise bad_argument("imageAssetId", expected, action.effect.channel)
    if (yield from find(action.workspace_id, media.digest)) is None:
        raise _refuse_gone(asset_id)
    return (media,)


def load_asset(workspace_id: WorkspaceId, asset_id: str) -> Transaction[tuple[Asset, Picture]]:
    """Return a picture asset of a workspace with its picture. Raises `Refusal`."""
    asset = yield from actions.find_asset(workspace_id, asset_id)
    digest = asset.metadata.get("digest") if asset is not None else None
    if asset is None or asset.type != IMAGE or not isinstance(digest, str):
        raise _refuse_asset(asset_id)
    picture = yield from find(workspace_id, digest)
    if picture is None:
        raise _refuse_gone(asset_id)
    return asset, msgspec.structs.replace(picture, alt=asset.body)


def _refuse_asset(asset_id: str) -> Refusal:
    return bad_argument("imageAssetId", "the id of an image asset of this workspace", repr(asset_id))


def _refuse_gone(asset_id: str) -> Refusal:
    return bad_argument("imageAssetId", "a picture that is still stored; make it again", repr(asset_id))


def find_shown(workspace_id: WorkspaceId, run_id: RunId, digest: str) -> Transaction[Picture | None]:
    rows = yield statements.find_run_picture(workspace_id=workspace_id, run_id=run_id, digest=digest)
    return _picture(rows[0]) if rows else None


def find(workspace_id: WorkspaceId, digest: str) -> Transaction[Picture | None]:
    """Return a picture of a workspace. The caller checks access."""
    rows = yield statements.find_picture(workspace_id=workspace_id, digest=digest)
    return _picture(rows[0]) if rows else None


async def of_action(store: Store, action: Action) -> tuple[Picture, ...]:
    """Return an approved action's pictures, without those that are links. Raises for other bytes."""
    attached = [media for media in action.effect.media if media.digest]

    def read() -> Transaction[list[Picture | None]]:
        found = []
        for media in attached:
            found.append((yield from find(action.workspace_id, media.digest)))
        return found

    if not attached:
        return ()
    found = await store.read(read)
    pictures = []
    for media, picture in zip(attached, found, strict=True):
        if picture is None or digest_of_bytes(picture.content) != media.digest:
            raise NotSent("the approved picture is not here any more; pick another one and approve again")
        pictures.append(msgspec.structs.replace(picture, alt=media.alt))
    return tuple(pictures)


def forget_unused(now_ms: int, most: int) -> Transaction[int]:
    """Delete pictures that no action used in time; returns how many."""
    rows = yield statements.forget_pictures(before_ms=now_ms - PICTURE_RETENTION_MS, most=most)
    return len(rows)


def _picture(row: Row) -> Picture:
    return from_row(Picture, row, content=bytes(row["content"]), alt="")
