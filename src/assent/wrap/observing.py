"""The rule file that observed calls propose: every tool of a server, with what a call of it would do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from assent.wrap.listing import OfferedTool


def write_proposed_rules(
    folder: Path, server: str, offered: Iterable[OfferedTool], counted: Mapping[str, int], *, trusted: bool
) -> None:
    """Write the proposed rules of a server as a file of the folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = folder / f".{server}.toml"
    made.write_text(propose_rules(server, offered, counted, trusted=trusted))
    made.replace(folder / f"{server}.toml")


def propose_rules(
    server: str, offered: Iterable[OfferedTool], counted: Mapping[str, int], *, trusted: bool
) -> str:
    """Return rules that do what holds now. Counts say what was called, so that a reader can decide."""
    lines = [
        f"# Rules for the tools of {server}, proposed from observed calls. Read them, then use them:",
        "# assent wrap --rules FILE -- COMMAND",
        "",
        f"[{server}]",
        f"trusted = {str(trusted).lower()}",
    ]
    for each in offered:
        calls = counted.get(each.tool, 0)
        asked = f"would have asked {calls} times" if calls else "not called"
        name = msgspec.json.encode(each.tool).decode()
        said = "passes" if each.mode == "pass" else asked if each.mode == "gate" else "is hidden"
        lines += ["", f"[{server}.tools.{name}]  # {said}", f'mode = "{each.mode}"']
        if each.mode == "gate":
            lines.append(f'risk = "{each.risk}"')
    return "\n".join(lines) + "\n"
