"""The metrics of a process, as Prometheus reads them.

Counted here: requests, calls and their latency. Read from the store at each request: what waits and since when,
unknown outcomes, jobs, freezes, checkpoints without a copy. Labels are names of tools and fixed words, so that no
caller can create a metric.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from assent import __version__
from assent.engine.audit import copies
from assent.kernel.limits import DAY_MS, HOUR_MS, SECOND_MS
from assent.ports import Store, StoreUnavailable, Transaction
from assent.serving.edge import Edge, Latency
from assent.sql.loader import statements

MEDIA_TYPE: Final = "text/plain; version=0.0.4"
AGES_MS: Final = (HOUR_MS, 4 * HOUR_MS, DAY_MS, 7 * DAY_MS)
"""The bounds of the ages in which waiting actions are counted."""


def may_read(authorization: str, key: str | None, *, only_here: bool) -> bool:
    """Whether a request may read the metrics: with the key, or without one on a server that only this machine
    reaches."""
    if key is None:
        return only_here
    given = authorization.removeprefix("Bearer ").strip()
    return hmac.compare_digest(given.encode(), key.encode())


async def write_metrics(edge: Edge, requests: Counter[tuple[str, str]], *, with_key: bool) -> str:
    """Return every metric as text. While the store is unavailable, its part is left out and `assent_store_up` is 0.
    Without the key the owner's tools are left out: their names are the owner's."""
    hidden = () if with_key else {tool.name for tool in edge.catalog.tools if tool.owned}
    outcomes = {key: n for key, n in edge.outcomes.items() if key[0] not in hidden}
    latencies = {tool: each for tool, each in edge.latencies.items() if tool not in hidden}
    lines = [
        *_family("build_info", "gauge", [({"version": __version__}, 1)]),
        *_family(
            "http_requests_total",
            "counter",
            [({"method": method, "status": status}, n) for (method, status), n in sorted(requests.items())],
        ),
        *_family(
            "tool_calls_total",
            "counter",
            [({"tool": tool, "outcome": outcome}, n) for (tool, outcome), n in sorted(outcomes.items())],
        ),
        *_write_latency(latencies),
    ]
    store, now_ms = edge.services.store, edge.services.clock.now_ms()
    try:
        read = await store.read(lambda: _read_state(now_ms))
    except StoreUnavailable:
        return "\n".join([*lines, *_family("store_up", "gauge", [({}, 0)])]) + "\n"
    lines += _family("store_up", "gauge", [({}, 1)])
    for name, samples in read.items():
        lines += _family(name, "gauge", samples)
    if pool := _count_connections(store):
        lines += _family("pool_connections", "gauge", [({"state": state}, n) for state, n in pool.items()])
    return "\n".join(lines) + "\n"


def _read_state(now_ms: int) -> Transaction[dict[str, list[tuple[dict[str, str], float]]]]:
    rows = yield statements.count_waiting_everywhere(
        now_ms=now_ms, **{f"after_{place}": now_ms - age for place, age in enumerate(AGES_MS)}
    )
    names = [f"{age // HOUR_MS}h" for age in AGES_MS] + ["older"]
    waiting = [({"younger_than": name}, rows[0][f"age_{place}"] or 0) for place, name in enumerate(names)]
    jobs = yield statements.count_jobs(now_ms=now_ms)
    counted = {(row["state"], row["due"]): row for row in jobs}
    backlog = [
        ({"state": state}, float(row["jobs"]))
        for state, row in (("due", counted.get(("waiting", 1))), ("later", counted.get(("waiting", 0))))
        if row is not None
    ]
    backlog += [
        ({"state": str(row["state"])}, float(row["jobs"])) for row in jobs if row["state"] != "waiting"
    ]
    due = counted.get(("waiting", 1))
    late = max(0.0, (now_ms - due["oldest_ms"]) / SECOND_MS) if due is not None else 0.0
    frozen = yield statements.list_freezes()
    uncopied_ms = yield from copies.find_overdue(now_ms)
    return {
        "actions_waiting": waiting,
        "actions_unknown": [({}, rows[0]["unknown"] or 0)],
        "jobs": backlog,
        "job_lateness_seconds": [({}, round(late, 3))],
        "freezes": [({}, float(len(frozen)))],
        "audit_uncopied_seconds": [
            ({}, (now_ms - uncopied_ms) / SECOND_MS if uncopied_ms is not None else 0)
        ],
    }


def _write_latency(latencies: Mapping[str, Latency]) -> Iterator[str]:
    name = "assent_tool_call_seconds"
    yield f"# TYPE {name} histogram"
    for tool, latency in sorted(latencies.items()):
        for bound, count in latency.cumulate():
            yield f'{name}_bucket{{tool="{tool}",le="{bound}"}} {count}'
        yield f'{name}_sum{{tool="{tool}"}} {latency.seconds:.6f}'
        yield f'{name}_count{{tool="{tool}"}} {latency.count}'


def _count_connections(store: Store) -> Mapping[str, int]:
    """The connections of a store with a pool by their state; empty for any other."""
    count = getattr(store, "count_connections", None)
    return count() if count is not None else {}


def _family(name: str, kind: str, samples: Iterable[tuple[Mapping[str, Any], float]]) -> Iterator[str]:
    yield f"# TYPE assent_{name} {kind}"
    for labels, value in samples:
        shown = ",".join(f'{label}="{text}"' for label, text in labels.items())
        yield f"assent_{name}{{{shown}}} {value:g}" if shown else f"assent_{name} {value:g}"
