"""Whether the store can be read and written, for `/readyz`.

A full disk or a standby answers reads, so a write is tried, too: of one row, as large as a usual call
writes. It is shared by all who ask and made at most once in `PROBE_SECONDS`, so that asking often costs
no more than reading.
"""

from __future__ import annotations

import asyncio
from typing import Final

from assent.engine.core.services import Services
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import Single
from assent.sql.loader import statements

PROBE_SECONDS: Final = 1.0
PROBE: Final = "." * 32_768


class StoreCheck:
    """The last write that was tried, and when."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tried: asyncio.Task[object] | None = None
        self._tried_seconds = 0.0

    async def check(self) -> None:
        """Raise `StoreUnavailable` unless the store can be read and written."""
        await self._services.check_store()
        now = asyncio.get_running_loop().time()
        if self._tried is None or (self._tried.done() and now - self._tried_seconds >= PROBE_SECONDS):
            self._tried, self._tried_seconds = asyncio.create_task(self._write()), now
        await asyncio.shield(self._tried)

    async def _write(self) -> object:
        probe = statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name="write probe", value=PROBE)
        return await self._services.store.write(Single(probe))
