"""The parts of a process that write and draw: who writes where the agent does not, the picture maker, the
sender of mail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from assent.suite.channels.channel import Channel
    from assent.suite.content.records import Facts, Write, Written
    from assent.suite.pictures.making import PictureMaker
    from assent.suite.pictures.orders import PictureJob, PictureResult

MakePictures = Callable[["PictureJob"], Awaitable["PictureResult"]]


@dataclass(frozen=True, slots=True)
class Drafting:
    write: Write
    """Writes where the call brings no text."""
    make_pictures: MakePictures | None
    """Draws pictures, off the event loop; None without the extra `pictures`."""
    default_sender: str
    """The sender of mail where the call names none."""


def make_drafting(settings: Mapping[str, Any]) -> Drafting:
    """Return the parts that the settings name."""
    return Drafting(
        write=_find_writer(settings),
        make_pictures=_draw_with(settings["font_dirs"]) if can_draw() else None,
        default_sender=settings["smtp_from"] or "",
    )


async def write_plainly(facts: Facts, channel: Channel, goal: str) -> Written | None:
    from assent.platform.jobs import run_apart
    from assent.suite.content.note import write_note

    return await run_apart(write_note, facts, channel, goal)


def _find_writer(settings: Mapping[str, Any]) -> Write:
    """Return the configured model, with the plain note where it fails; else the plain note."""
    url, name = settings["model_url"], settings["model_name"]
    if url is None or name is None:
        return write_plainly
    from assent.suite.model_writer import Model, write_with

    kind: Literal["openai", "anthropic"] = "anthropic" if settings["model_kind"] == "anthropic" else "openai"
    return write_with(Model(url, name, kind, settings["model_api_key"]), write_plainly)


def can_draw() -> bool:
    """Whether the libraries of the extra `pictures` are installed."""
    return all(find_spec(name) is not None for name in ("resvg_py", "uharfbuzz"))


def _draw_with(font_dirs: tuple[str, ...]) -> MakePictures:
    @cache
    def load_maker() -> PictureMaker:
        from assent.suite.pictures.making import PictureMaker  # imported at the first picture

        return PictureMaker(font_dirs)

    return lambda work: load_maker().make(work)
