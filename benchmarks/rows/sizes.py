"""How much a model has to read: the list of tools before its first word, and the answers to a launch and a post.

No peer: each size stands beside the most that it may be.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import msgspec

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.kernel.toolsets import TOOLSETS
from assent.processes.serve import Surfaces
from assent.serving.edge import Credentials, RequestContext
from assent.serving.instructions import INSTRUCTIONS
from assent.tools.catalog import Catalog
from assent_launch.testing import ALL_TOOLS
from benchmarks.figures import Figure, Limit, compared, require
from benchmarks.rows.gate_world import world

AGAINST: Final = "the most it may be"
MOST: Final = Limit(times=1)

MOST_TOOLS: Final = 40
MOST_LIST_BYTES: Final = 40_000
MOST_OUTPUT_BYTES: Final = 800
MOST_INSTRUCTIONS: Final = 1_300
MOST_LAUNCH_BYTES: Final = 12_000
MOST_POST_BYTES: Final = 3_000

TEXTS: Final = {
    "linkedin": "Tern v2 is out. A refresh imports only the rows that changed since the last one, so that a large "
    "table is current again in seconds instead of minutes. One command does it, and nothing has to be configured.",
    "site": "# Tern v2\n\nTern keeps a database in step with the files that people edit. Version 2 refreshes only "
    "what changed, and an interrupted refresh goes on where it stopped.",
    "email": "Hello,\n\nTern v2 is here. A refresh imports only the rows that changed and is done in seconds.\n\n"
    "The Tern team",
    "hn": "Tern turns a folder of spreadsheets into tables that can be queried. Version 2 imports only changed rows.",
}
LAUNCH: Final[dict[str, Any]] = {
    "goal": "teams that wait for imports",
    "drafts": TEXTS,
    "email": {"to": ["ana@example.org", "bo@example.org"], "subject": "Tern v2"},
    "repoContext": {
        "whatChanged": "Refresh imports only changed rows.",
        "readme": "# Tern\n\nFiles to tables.",
    },
}
POST: Final = {"channel": "site", "body": "Tern v2 is out."}


def measure(scratch: Path) -> list[Figure]:
    listed = Catalog(ALL_TOOLS).listing()
    told = [{part: tool[part] for part in ("name", "description", "inputSchema")} for tool in listed]
    schemas = [_bytes(tool["outputSchema"]) for tool in Catalog(ALL_TOOLS, toolsets=TOOLSETS).listing()]
    launch, post = asyncio.run(_answers(scratch / "data"))
    return [
        _size("tools/list by default, tools", "tools", len(listed), MOST_TOOLS),
        _size("tools/list, names, descriptions, inputs", "bytes", _bytes(told), MOST_LIST_BYTES),
        _size("the largest output schema", "bytes", max(schemas), MOST_OUTPUT_BYTES),
        _size("instructions", "characters", len(INSTRUCTIONS), MOST_INSTRUCTIONS),
        _size("the answer to a launch, beside its texts", "bytes", launch, MOST_LAUNCH_BYTES),
        _size("the answer to a one-line post", "bytes", post, MOST_POST_BYTES),
    ]


async def _answers(data_dir: Path) -> tuple[int, int]:
    app = App(world(data_dir).settings)
    await app.prepare()
    try:
        edge = Surfaces(app).edge
        here = RequestContext(Credentials(local=LOCAL_PRINCIPAL), "127.0.0.1", "benchmark")
        launch = await edge.answer("chieflab_launch_product", LAUNCH, here)
        post = await edge.answer("chieflab_post", POST, here)
    finally:
        await app.close()
    require(not launch.is_error and not post.is_error, 1, "a launch and a post")
    texts = sum(len(text.encode()) for text in TEXTS.values())
    return len(launch.text.encode()) - texts, len(post.text.encode())


def _size(work: str, unit: str, ours: int, most: int) -> Figure:
    return compared(work, AGAINST, unit, [float(ours)], [float(most)], successes=1, limit=MOST)


def _bytes(part: Any) -> int:
    return len(msgspec.json.encode(part))
