"""The memory of a tenant, and measurement."""

from __future__ import annotations

from assent.engine.learning import manual_metrics as manual_metrics
from assent.engine.learning import measurement as measurement
from assent.engine.learning import memory as memory
from assent.engine.learning.measured import Measurement as Measurement
from assent.engine.learning.measured import decode_measurement as decode_measurement
from assent.engine.learning.measurement import Scheduled as Scheduled
from assent.engine.learning.measurement import unavailable as unavailable
from assent.engine.learning.memory import Entry as Entry
from assent.engine.learning.memory import NewEntry as NewEntry
