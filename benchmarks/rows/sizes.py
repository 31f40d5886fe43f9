"""How much a model has to read: the list of tools before its first word, then the answers, in tokens.

No peer: each size stands beside the most that it may be.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import msgspec
from tests.support.catalog import ALL_TOOLS

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.kernel.toolsets import DEFAULT_TOOLSETS
from assent.processes.serve import Surfaces
from assent.serving.edge import Credentials, RequestContext
from assent.serving.instructions import instructions
from assent.tools.catalog import Catalog
from assent_launch.words import WORDS
from benchmarks.figures import Figure, Limit, compared, require
from benchmarks.rows.gate_world import world
from benchmarks.tokens import count_tokens

INSTRUCTIONS = instructions(DEFAULT_TOOLSETS, words=WORDS)
AGAINST: Final = "the most it may be"
MOST: Final = Limit(times=1)

MOST_TOOLS: Final = 40
MOST_INSTRUCTIONS: Final = 1_600
MOST_LIST_TOKENS: Final = 7_900
MOST_POST: Final = 950
MOST_LAUNCH: Final = 2_000
MOST_OF_22: Final = 4_500
MOST_OF_50: Final = 9_500

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
MOST_LISTED: Final = 50
POST: Final = {"channel": "site", "body": "Tern v2 is out."}


def measure(scratch: Path) -> list[Figure]:
    listed = Catalog(ALL_TOOLS).listing()
    tokens = sum(count_tokens(INSTRUCTIONS, msgspec.json.encode({"tools": listed}).decode()))
    sizes = [
        _size("tools/list by default, tools", "tools", len(listed), MOST_TOOLS),
        _size("instructions", "characters", len(INSTRUCTIONS), MOST_INSTRUCTIONS),
        _size("instructions and tools/list", "tokens", tokens, MOST_LIST_TOKENS),
    ]
    post, launch, of_22, of_50 = count_tokens(*asyncio.run(_answers(scratch / "data")))
    text, *texts = count_tokens(POST["body"], *TEXTS.values())
    return [
        *sizes,
        _size("a one-line post, beside its text", "tokens", post - text, MOST_POST),
        _size(
            "a launch on four channels, beside its texts twice",
            "tokens",
            launch - 2 * sum(texts),
            MOST_LAUNCH,
        ),
        _size("the list of 22 pending actions", "tokens", of_22, MOST_OF_22),
        _size("the list of 50 pending actions", "tokens", of_50, MOST_OF_50),
    ]


async def _answers(data_dir: Path) -> list[str]:
    """The answers to a post, a launch and two lists, as they are sent."""
    app = App(world(data_dir).settings)
    await app.prepare()
    try:
        edge = Surfaces(app).edge
        here = RequestContext(Credentials(local=LOCAL_PRINCIPAL), "127.0.0.1", "benchmark")

        async def call(tool: str, arguments: dict[str, Any]) -> str:
            answer = await edge.answer(tool, arguments, here)
            require(not answer.is_error, 1, tool)
            return answer.text

        first = [await call("chieflab_post", POST), await call("chieflab_launch_product", LAUNCH)]
        for number in range(MOST_LISTED):
            await call(
                "chieflab_post",
                {**POST, "body": f"Tern {number} imports only the rows that changed since the last refresh."},
            )
        pending = "chieflab_list_pending_actions"
        return [*first, await call(pending, {"limit": 22}), await call(pending, {"limit": MOST_LISTED})]
    finally:
        await app.close()


def _size(work: str, unit: str, ours: int, most: int) -> Figure:
    return compared(work, AGAINST, unit, [float(ours)], [float(most)], successes=1, limit=MOST)
