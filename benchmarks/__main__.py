"""`python -m benchmarks [NAME …]`: measure, print the table, write `benchmarks/results/latest.json`.

Ends with 1 where a limit is missed or a measurement failed. With names only those are measured, and no file is
written: a result file is always a whole run.

`python -m benchmarks rewind` measures nothing: it shows what a rewound chat does here and in LangGraph.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks import rewind
from benchmarks.figures import Figure, NotRun
from benchmarks.machine import ROOT
from benchmarks.table import MEASUREMENTS, measure, shown

RESULTS: Final = ROOT / "benchmarks" / "results" / "latest.json"
PACKAGES: Final = ("mcp", "msgspec", "starlette", "uvicorn", "uvloop", "asyncpg")


def main(arguments: list[str]) -> int:
    if arguments == ["rewind"]:
        return rewind.main()
    unknown = sorted(set(arguments) - set(MEASUREMENTS))
    if unknown:
        print(f"No measurement is named {', '.join(unknown)}. There are: {', '.join(MEASUREMENTS)}, rewind.")
        return 2
    started, figures, remarks, failed = time.monotonic(), list[Figure](), list[str](), False
    for name in arguments or MEASUREMENTS:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="assent-bench-") as scratch:
            try:
                figures += _measure_apart(name, Path(scratch))
            except NotRun as reason:
                remarks.append(f"not run: {name}, because {reason}")
            except Exception as error:
                failed = True
                remarks.append(f"failed: {name}: {type(error).__name__}: {error}")
    print(shown(figures))
    for remark in remarks:
        print(remark)
    print(f"{len(figures)} figures in {time.monotonic() - started:.0f} s; costs, so less is better.")
    if not arguments and not failed:
        RESULTS.write_bytes(_document(figures, remarks))
        print(f"Written to {RESULTS.relative_to(ROOT)}.")
    return int(failed or any(figure.kept is False for figure in figures))


def _measure_apart(name: str, scratch: Path) -> list[Figure]:
    """Measure in a process of its own: what earlier measurements left in memory would slow the later ones."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measure, name, scratch).result()


def _document(figures: list[Figure], remarks: list[str]) -> bytes:
    """The run as JSON. The machine is described because its absolute times mean nothing without it."""
    document: dict[str, Any] = {
        "machine": {
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "packages": {name: version(name) for name in PACKAGES},
        },
        "figures": figures,
        "remarks": remarks,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
