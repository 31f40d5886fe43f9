"""Pictures in both stores: kept once, seen only where a run shows them, gone when nobody wants them."""

from __future__ import annotations

import msgspec
import pytest
from tests.support.stores.kit import NOON, WORKSPACE

from assent.engine.actions import pictures
from assent.gate.records import Action, Effect, Media
from assent.kernel.canonical import digest_of_bytes
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.limits import MAX_WORKSPACE_PICTURE_BYTES, PICTURE_RETENTION_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import NotSent, Picture, Store, Transaction
from assent.sql.loader import statements
from assent_conform.testing.connector_contract import claim_action

HERE = WorkspaceId(WORKSPACE)
ELSEWHERE = WorkspaceId("0190a0e0-0000-7000-8000-00000000e15e")
RUN, OTHER_RUN = RunId("run-1"), RunId("run-2")
BYTES = b"\x89PNG\r\n\x1a\n\x00 not quite one"


def picture(content: bytes = BYTES) -> Picture:
    return Picture(
        content=content,
        content_type="image/png",
        width=1200,
        height=627,
        alt="A headline",
        digest=digest_of_bytes(content),
    )


def with_media(*media: Media) -> Action:
    made = claim_action(Effect(channel="x", verb="post", connector="zernio", body="Hello.", media=media))
    return msgspec.structs.replace(made, workspace_id=HERE, run_id=OTHER_RUN)


async def test_a_picture_is_seen_in_the_run_that_shows_it_and_nowhere_else(store: Store) -> None:
    made = picture()
    await store.write(lambda: pictures.keep(HERE, RUN, (made, made), NOON))

    found = await store.read(lambda: pictures.find_shown(HERE, RUN, made.digest))
    assert found is not None
    assert (found.content, found.content_type, found.width, found.height) == (BYTES, "image/png", 1200, 627)
    assert await store.read(lambda: pictures.find_shown(HERE, OTHER_RUN, made.digest)) is None
    assert await store.read(lambda: pictures.find_shown(ELSEWHERE, RUN, made.digest)) is None
    assert await store.read(lambda: pictures.find(ELSEWHERE, made.digest)) is None


async def test_a_connector_gets_the_approved_bytes_or_nothing(store: Store) -> None:
    made = picture()
    await store.write(lambda: pictures.keep(HERE, RUN, (made,), NOON))
    action = with_media(Media("image", "https://example.org/p.png", "What it shows", made.digest))

    (found,) = await pictures.of_action(store, action)
    assert (found.content, found.alt) == (BYTES, "What it shows")
    assert await pictures.of_action(store, with_media()) == ()

    gone = with_media(Media("image", "https://example.org/q.png", "Gone", digest_of_bytes(b"other")))
    with pytest.raises(NotSent) as refused:
        await pictures.of_action(store, gone)
    assert (refused.value.reason, refused.value.curable) == (Reason.CONNECTOR_FAILED, False)


async def test_what_nobody_took_along_goes_and_the_rest_stays(store: Store) -> None:
    unused, taken = picture(), picture(BYTES + b"2")
    action = with_media(Media("image", "https://example.org/p.png", "Taken", taken.digest))
    await store.write(lambda: pictures.keep(HERE, RUN, (unused, taken), NOON))
    await store.write(lambda: pictures.show_attached(action))

    late = NOON + PICTURE_RETENTION_MS + 1
    assert await store.write(lambda: pictures.forget_unused(NOON + PICTURE_RETENTION_MS, 100)) == 0
    assert await store.write(lambda: pictures.forget_unused(late, 100)) == 1

    assert await store.read(lambda: pictures.find_shown(HERE, RUN, unused.digest)) is None
    assert await store.read(lambda: pictures.find_shown(HERE, OTHER_RUN, taken.digest)) is not None


async def test_a_workspace_keeps_only_so_many_bytes_of_pictures(store: Store) -> None:
    made = picture()

    def full() -> Transaction[None]:
        yield statements.insert_picture(
            workspace_id=HERE,
            digest="sha256:huge",
            content_type="image/png",
            width=1,
            height=1,
            size=MAX_WORKSPACE_PICTURE_BYTES,
            content=b"",
            created_ms=NOON,
        )

    await store.write(full)

    with pytest.raises(Refusal) as refused:
        await store.write(lambda: pictures.keep(HERE, RUN, (made,), NOON))
    assert refused.value.reason is Reason.TOO_MANY_PICTURES
    assert await store.read(lambda: pictures.find(HERE, made.digest)) is None
