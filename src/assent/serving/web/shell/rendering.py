"""Renders templates: Jinja2 with autoescaping and strict undefined names.

Jinja2 is imported at the first page, because many processes serve none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request

from assent import __version__
from assent.serving.instructions import SPEC_URL
from assent.serving.web.shell.assets import asset_path
from assent.serving.web.shell.headers import PageResponse
from assent.serving.web.shell.sentences import as_bdi, as_code, as_link, as_strong, fill
from assent.serving.web.shell.unseen import mark_unseen

if TYPE_CHECKING:
    from jinja2 import Environment

WORDED: Final = (
    "audit",
    "connections",
    "inbox",
    "memory",
    "operations",
    "people",
    "results",
    "review",
    "runs",
    "sessions",
    "settings",
    "shell",
)
"""Screens by their folder. A template names what code decides between by the module `words` of its screen, as
`inbox_words`, and `shell_words` if several screens have it."""
THEME_COOKIE: Final = "assent-theme"
THEMES: Final = ("light", "dark")
"""Themes a person may choose instead of the system's."""


@cache
def _environment(folder: Path | None) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    own = sorted(Path(__file__).parents[1].glob("*/templates"))
    environment = Environment(
        loader=FileSystemLoader([*own, folder] if folder is not None else own),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(asset=asset_path, spec_url=SPEC_URL, version=__version__)
    for screen in WORDED:
        words = import_module(f"assent.serving.web.{screen}.words")
        environment.globals[f"{screen}_words"] = words
    environment.globals.update(as_bdi=as_bdi, as_code=as_code, as_link=as_link, as_strong=as_strong)
    environment.filters["fill"] = fill
    environment.filters["marked"] = mark_unseen
    environment.filters["capital"] = lambda text: text[:1].upper() + text[1:]
    return environment


def page(
    request: Request,
    template: str,
    values: Mapping[str, Any] | None = None,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> PageResponse:
    """A page, rendered by `finish`. `here` marks the place in the navigation, `theme` is the
    browser's choice. Templates get nothing else of the request. `folder` has the templates of an
    extension, which may extend those of the server."""
    theme = request.cookies.get(THEME_COOKIE, "")
    known = {"here": request.url.path, "theme": theme if theme in THEMES else ""}
    given = {**known, **(values or {})}
    return PageResponse(lambda: _environment(folder).get_template(template).render(given), status, headers)
