"""Zernio, which posts to social networks."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.zernio.info import INFO

CONNECTORS: Final = (INFO,)
