"""A signed-in server with a launch whose posts have pictures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.operators.fixtures import CLUB
from tests.support.review.kit import BROWSER
from tests.support.surfaces import BASE_URL, ManualClock, Surface, settings_for, signed_in

from assent.app import App


class Studio(Surface):
    """A surface with browsers around it."""

    async def launched(self, **arguments: Any) -> dict[str, Any]:
        given = {**CLUB, "channels": ["site", "linkedin"], "imagesNeeded": True, **arguments}
        return (await self.call("chieflab_launch_product", given)).payload

    def browser(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(app=self.surfaces.site(), client=("198.51.100.4", 50_000)),
            base_url=BASE_URL,
            headers={**BROWSER, "Origin": BASE_URL},
            follow_redirects=True,
        )


@pytest.fixture
async def studio(database_url: str, tmp_path: Path) -> AsyncIterator[Studio]:
    async with signed_in(Studio(App(settings_for(database_url, tmp_path), clock=ManualClock()))) as made:
        yield made
