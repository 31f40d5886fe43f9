"""`python -m benchmarks rewind`: the same rewind here and in LangGraph, with both ledgers of effects side by side.

A person consents inside a workflow and a post goes out; the chat is rewound, and the agent goes on again without a new
consent. An effect is what the world has seen: a page of the site here, a line of the effect file there.
"""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.figures import NotRun
from benchmarks.machine import ROOT

PEERS: Final = ROOT / ".peers"
PEER_SCRIPT: Final = ROOT / "benchmarks" / "peers" / "langgraph_rewind.py"
EXAMPLE: Final = ROOT / "examples" / "rewind.py"
SECONDS: Final = 120.0


class Rewound(msgspec.Struct, frozen=True):
    """What one system did: the posts that the world has seen before and after the rewind, and whether it asked a person
    again before it went on."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    asked_again: bool


def assent_rewound(scratch: Path) -> Rewound:
    """The demonstration of `examples/rewind.py`, counted in the site's own table."""
    spec = importlib.util.spec_from_file_location("rewind_example", EXAMPLE)
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    folder = scratch / "workflows"
    folder.mkdir(parents=True)
    (folder / "ship.json").write_text(json.dumps(example.WORKFLOW))
    server = example.Server(scratch)
    counted: list[tuple[str, ...]] = []

    def watch(said: str) -> None:
        if said.startswith("4."):
            counted.append(_pages(scratch))

    try:
        shown: dict[str, Any] = example.play(server, watch)
    finally:
        server.close()
    return Rewound(
        "Assent", counted[0], _pages(scratch), shown["asked_again"]["reason"] == "requires_approval"
    )


def _pages(scratch: Path) -> tuple[str, ...]:
    [database] = scratch.glob("*.db")
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT body FROM launch_site_posts ORDER BY published_ms, post_id")
        return tuple(body for (body,) in rows)


def langgraph_rewound(scratch: Path) -> Rewound:
    """The same in LangGraph, in the peers' environment, counted in a file that its effect writes."""
    brought = subprocess.run(
        [str(ROOT / "scripts" / "peers.sh")], capture_output=True, text=True, check=False
    )
    if not (PEERS / ".stamp").exists():
        raise NotRun(
            (brought.stdout or brought.stderr).strip().rpartition("because ")[2] or "it is not installed"
        )
    scratch.mkdir(parents=True)
    command = [str(PEERS / "bin" / "python"), str(PEER_SCRIPT), str(scratch)]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode()[-2_000:])
    seen = msgspec.json.decode(done.stdout)
    return Rewound("LangGraph", tuple(seen["before"]), tuple(seen["after"]), seen["askedAgain"])


def shown(sides: list[Rewound]) -> str:
    """The ledgers side by side."""
    facts = [
        ("", *(side.name for side in sides)),
        ("effects before the rewind", *(str(len(side.before)) for side in sides)),
        ("effects after it", *(str(len(side.after)) for side in sides)),
        ("a person was asked again", *("yes" if side.asked_again else "no" for side in sides)),
    ]
    longest = max(len(side.after) for side in sides)
    for number in range(longest):
        cells = (side.after[number] if number < len(side.after) else "–" for side in sides)
        facts.append((f"effect {number + 1}", *(cell[:40] for cell in cells)))
    widths = [max(len(row[column]) for row in facts) for column in range(len(facts[0]))]
    rows = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in facts
    ]
    return "\n".join([rows[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *rows[1:]])


def main() -> int:
    """Play both, print both. Ends with 1 where we did not come out with one effect."""
    with tempfile.TemporaryDirectory(prefix="assent-rewind-") as scratch:
        ours = assent_rewound(Path(scratch) / "assent")
        sides = [ours]
        try:
            sides.append(langgraph_rewound(Path(scratch) / "langgraph"))
        except NotRun as reason:
            print(f"not run: LangGraph, because {reason}")
    print(shown(sides))
    return int(len(ours.after) != 1)
