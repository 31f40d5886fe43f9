"""Where people get this program from, as every hint, snippet and package of ours words it."""

from __future__ import annotations

from typing import Final

DISTRIBUTION: Final = "assent-gate"
"""The name of the built package. `assent` on the public index is another program."""

PUBLISHED: Final[bool] = False
"""Whether DISTRIBUTION on the public index is ours. The person who uploads it sets this. Until then a stranger may take
the name, so no text tells people to install it; `server.json` gets its package entry with the upload."""


def word_install(extra: str, published: bool = PUBLISHED) -> str:
    """The command that adds an optional dependency."""
    if published:
        return f"pip install '{DISTRIBUTION}[{extra}]'"
    wheel = f"pipx install --force 'PATH-OF-THE-WHEEL[{extra}]'"
    return f"add the extra {extra}: {wheel}, or in a checkout: uv pip install -e '.[{extra}]'"


def list_dependencies(published: bool = PUBLISHED) -> str:
    """The dependencies of a package for Assent, as TOML. Without one, the package uses the Assent that runs it."""
    return f'["{DISTRIBUTION}"]' if published else "[] # Assent is on no index; install its wheel first"


def uvx_words(origin: str | None, published: bool = PUBLISHED) -> list[str]:
    """The arguments of `uvx` that start this program again, from the wheel or folder `origin` if that is known; none if
    nothing is surely ours."""
    if origin is not None:
        return ["--from", origin, "assent"]
    return [DISTRIBUTION] if published else []
