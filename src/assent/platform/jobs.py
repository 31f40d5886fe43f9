"""Jobs, and work outside the event loop."""

from __future__ import annotations

from assent.engine.core.offloading import SHORT_CHARS as SHORT_CHARS
from assent.engine.core.offloading import run_apart as run_apart
from assent.engine.core.offloading import run_long_apart as run_long_apart
from assent.engine.webhooks import long_runs as long_runs
from assent.gate.webhooks import mask_url as mask_url
