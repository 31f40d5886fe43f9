"""The parts of a process that write and draw: a model, the picture maker, the sender of mail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from assent.suite.content.evidence import Evidence
    from assent.suite.content.lessons import Lessons
    from assent.suite.content.records import Composed, NeedsDraft
    from assent.suite.pictures.making import PictureMaker
    from assent.suite.pictures.orders import PictureJob, PictureResult

MakePictures = Callable[["PictureJob"], Awaitable["PictureResult"]]
WriteDraft = Callable[[str, "Evidence", "Lessons"], Awaitable["Composed | NeedsDraft"]]


@dataclass(frozen=True, slots=True)
class Drafting:
    write_draft: WriteDraft | None
    """A model that writes drafts, where one is configured."""
    make_pictures: MakePictures | None
    """Draws pictures, off the event loop; None without the extra `pictures`."""
    default_sender: str
    """The sender of mail where the call names none."""


def make_drafting(settings: Mapping[str, Any]) -> Drafting:
    """Return the parts that the settings name."""
    return Drafting(
        write_draft=_find_writer(settings),
        make_pictures=_draw_with(settings["font_dirs"]) if can_draw() else None,
        default_sender=settings["smtp_from"] or "",
    )


def _find_writer(settings: Mapping[str, Any]) -> WriteDraft | None:
    """Return a function that drafts with the configured model; None if only the composer writes."""
    url, name = settings["model_url"], settings["model_name"]
    if url is None or name is None:
        return None
    from assent.suite.model_writer import Model, draft

    kind: Literal["openai", "anthropic"] = "anthropic" if settings["model_kind"] == "anthropic" else "openai"
    return partial(draft, Model(url, name, kind, settings["model_api_key"]))


def can_draw() -> bool:
    """Whether the libraries of the extra `pictures` are installed."""
    return all(find_spec(name) is not None for name in ("resvg_py", "uharfbuzz"))


def _draw_with(font_dirs: tuple[str, ...]) -> MakePictures:
    @cache
    def load_maker() -> PictureMaker:
        from assent.suite.pictures.making import PictureMaker  # imported at the first picture

        return PictureMaker(font_dirs)

    return lambda work: load_maker().make(work)
