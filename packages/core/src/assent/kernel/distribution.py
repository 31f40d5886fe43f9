"""Where people get this program from, as every hint, snippet and package of ours words it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

AGENT: Final = "Assent"
"""How it names itself to the servers that it calls."""

DISTRIBUTION: Final = "assent-gate"
"""The name of the built package. `assent` on the public index is another program."""

PARTS: Final = ("assent-core", "assent-launch", "assent-wrap", "assent-notify", "assent-conform")
"""The packages that it needs, each a folder of `packages`."""

LAUNCH: Final = "launch"
"""The extension of assent-launch. The texts for agents name its tools only where it is installed."""

PUBLISHED: Final[bool] = False
"""Whether DISTRIBUTION and its parts on the public index are ours. The person who uploads them sets this. Until then a
stranger may take the names, so no text tells people to install them by name; `server.json` gets its package entry with
the upload."""


def word_install(extra: str, published: bool = PUBLISHED) -> str:
    """The command that adds an optional dependency."""
    if published:
        return f"pip install '{DISTRIBUTION}[{extra}]'"
    wheel = f"pip install DIRECTORY/*.whl 'PATH-OF-ITS-WHEEL[{extra}]'"
    return f"add the extra {extra}: {wheel}, or in a checkout: uv pip install -e '.[{extra}]'"


def list_dependencies(published: bool = PUBLISHED) -> str:
    """The dependencies of a package for Assent, as TOML. Without one, the package uses the Assent that runs it."""
    return f'["{DISTRIBUTION}"]' if published else "[] # Assent is on no index; install its wheel first"


def uvx_words(origins: Sequence[str], published: bool = PUBLISHED) -> list[str]:
    """The arguments of `uvx` that start this program again, from the wheels or folders of the distribution and its
    parts if they are known; none if nothing is surely ours."""
    if origins:
        first, *others = origins
        return ["--from", first, *(word for each in others for word in ("--with", each)), "assent"]
    return [DISTRIBUTION] if published else []
