"""A whole server in this process, and runs of checks against it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import httpx
from tests.support.conformance.proxy import Handler, ProxyTransport
from tests.support.surfaces import BASE_URL, Surface

from assent_conform.checks.checking import ConformanceCheck, ConformanceReport, Need, Scene, run_checks
from assent_conform.checks.profiles import FULL, ServerProfile
from assent_conform.checks.wire import HttpWire, Patience, Server

EVERYTHING: tuple[Need, ...] = ("key", "other_key", "effects", "launch", "http")


@dataclass
class Site:
    """A whole server and two of its workspaces."""

    surface: Surface
    keys: tuple[str, str]

    async def run(
        self,
        *checks: ConformanceCheck,
        through: Handler | None = None,
        has: Collection[Need] = EVERYTHING,
        profile: ServerProfile = FULL,
        **options: Any,
    ) -> ConformanceReport:
        transport: httpx.AsyncBaseTransport = httpx.ASGITransport(
            app=self.surface.surfaces.site(), client=("203.0.113.7", 50_000)
        )
        if through is not None:
            transport = ProxyTransport(transport, through)
        wire, patience = HttpWire(BASE_URL, transport=transport), Patience(self._pass_time)
        nobody, mine, other = (Server(wire, patience, key) for key in (None, *self.keys))
        return await run_checks(checks, Scene(nobody, mine, other, profile), has=has, **options)

    async def _pass_time(self, seconds: float) -> None:
        self.surface.clock.advance(seconds=seconds)
