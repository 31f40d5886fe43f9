"""One trivial `tools/call` over HTTP: CPU time of the server process per call, above that of a bare SDK server.

One client calls over one connection that stays open. The public call touches no store; the keyed one looks the key
up, counts it against the limit (raised out of the way) and reads the workspace.
"""

from __future__ import annotations

import http.client
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.figures import Figure, Limit, compared, in_turns, require
from benchmarks.machine import assent, cpu_seconds, environment, free_port, python, serving
from benchmarks.messages import LEGACY, MODERN, succeeded, tool_call

CALLS: Final = 200
ROUNDS: Final = 7
WARM_UP: Final = 100
LIMIT: Final = Limit(more=0.5)
KEYED_LIMIT: Final = Limit(more=0.4)
ERAS: Final = {"modern": MODERN, "legacy": LEGACY}
AGAINST: Final = "bare SDK server, echo tool"


class Caller:
    """A client of one server over one connection."""

    def __init__(self, pid: int, port: int, path: str, key: str | None = None) -> None:
        self._pid = pid
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._path = path
        self._authorization = {"Authorization": f"Bearer {key}"} if key is not None else {}
        self.successes = 0

    def call(self, body: bytes, headers: dict[str, str]) -> None:
        self._connection.request("POST", self._path, body, headers | self._authorization)
        response = self._connection.getresponse()
        self.successes += succeeded(response.read()) and response.status == 200

    def cost(self, version: str, tool: str, calls: int) -> float:
        """Milliseconds of the server's CPU time per call."""
        body, headers = tool_call(version, tool, {})
        before = cpu_seconds(self._pid)
        for _ in range(calls):
            self.call(body, headers)
        return (cpu_seconds(self._pid) - before) / calls * 1_000


def measure(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        bare_port, port = free_port(), free_port()
        settings = {
            "ASSENT_DATA_DIR": str(scratch / "data"),
            "ASSENT_PORT": str(port),
            "ASSENT_RATE_LIMIT_PER_MINUTE": "100000000",
        }
        key = new_key(settings)
        ours = stack.enter_context(serving(assent("serve"), port, settings, scratch / "assent.log"))
        bare = stack.enter_context(
            serving(python("benchmarks.bare.http", str(bare_port)), bare_port, {}, scratch / "bare.log")
        )
        peer = Caller(bare, bare_port, "/mcp")
        public, keyed = Caller(ours, port, "/api/mcp"), Caller(ours, port, "/api/mcp", key)
        return [
            *(
                _figure(f"tools/call over HTTP, {era} era", public, "chieflab_list_connectors", peer, version)
                for era, version in ERAS.items()
            ),
            *(
                _figure(
                    f"tools/call with a key, {era} era",
                    keyed,
                    "chieflab_get_workspace",
                    peer,
                    version,
                    KEYED_LIMIT,
                )
                for era, version in ERAS.items()
            ),
        ]


def _figure(work: str, caller: Caller, tool: str, peer: Caller, version: str, limit: Limit = LIMIT) -> Figure:
    sides: dict[str, Callable[[], float]] = {
        "ours": lambda: caller.cost(version, tool, CALLS),
        "theirs": lambda: peer.cost(version, "echo", CALLS),
    }
    caller.cost(version, tool, WARM_UP)
    peer.cost(version, "echo", WARM_UP)
    caller.successes = peer.successes = 0
    costs = in_turns(sides, ROUNDS)
    for who, side in ((caller, work), (peer, AGAINST)):
        require(who.successes, CALLS * ROUNDS, side)
    return compared(
        f"{work}, CPU per call",
        AGAINST,
        "ms",
        costs["ours"],
        costs["theirs"],
        successes=caller.successes,
        limit=limit,
    )


def new_key(settings: dict[str, str]) -> str:
    """The key of a new workspace, made as the owner of a server makes it."""
    command = assent("workspace", "create", "benchmarks", "--json")
    done = subprocess.run(command, capture_output=True, env=environment(settings), check=False)
    require(done.returncode == 0, 1, f"{command}: {done.stderr.decode()}")
    key: str = msgspec.json.decode(done.stdout)["apiKey"]
    return key
