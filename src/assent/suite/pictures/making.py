"""Runs drawing processes off the event loop: one per order, few at a time, each with a deadline."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import suppress
from typing import Final

import msgspec

from assent.platform.values import MAX_PICTURE_BYTES
from assent.suite.pictures.orders import PictureJob, PictureResult, PicturesFailed

log = logging.getLogger("assent.pictures")

AT_ONCE: Final = 2
"""The most drawing processes at a time; more would slow the server."""

DEADLINE_SECONDS: Final = 60.0
"""The largest order takes some seconds on a slow machine."""


class PictureMaker:
    def __init__(self, font_dirs: tuple[str, ...] = ()) -> None:
        self._font_dirs = font_dirs
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def make(self, work: PictureJob) -> PictureResult:
        """Return the pictures of an order. Raises `PicturesFailed` if the process fails."""
        asked = msgspec.msgpack.encode(msgspec.structs.replace(work, font_dirs=self._font_dirs))
        async with self._turns:
            try:
                async with asyncio.timeout(DEADLINE_SECONDS):
                    answer = await _ask(asked)
            except (OSError, TimeoutError) as error:
                raise PicturesFailed(f"{type(error).__name__}: {error}") from error
        try:
            result = msgspec.msgpack.decode(answer, type=PictureResult)
        except msgspec.MsgspecError as error:
            raise PicturesFailed("no result") from error
        if any(len(each.content) > MAX_PICTURE_BYTES for each in result.made):
            raise PicturesFailed("a picture is larger than any may be")
        return result


async def _ask(work: bytes) -> bytes:
    # -P: files in the working directory must not be imported.
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "assent.suite.pictures.process",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        answer, complaint = await process.communicate(work)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode != 0:
        log.error(
            "the picture process ended with %s: %s", process.returncode, complaint.decode("utf-8", "replace")
        )
        raise PicturesFailed(f"the process ended with {process.returncode}")
    return answer
