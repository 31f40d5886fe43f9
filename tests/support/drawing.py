"""Draws the pictures of launches in the process of the tests, each once."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from assent_launch.drafting import PictureMaker
from assent_launch.pictures.graphics import PictureJob, PictureResult

_drawn: dict[bytes, PictureResult] = {}


@pytest.fixture(autouse=True)
def drawn_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most launches of the tests say the same. Their picture is drawn once, without a process of its own, except
    where pictures are what is tested."""
    if request.path.parent.name == "pictures":
        return

    async def make(self: PictureMaker, work: PictureJob) -> PictureResult:
        from assent_launch.pictures import process as picture_process

        asked = msgspec.msgpack.encode(work)
        if asked not in _drawn:
            _drawn[asked] = await asyncio.to_thread(picture_process.make, work)
        return _drawn[asked]

    monkeypatch.setattr(PictureMaker, "make", make)
