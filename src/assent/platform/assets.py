"""Pictures of a run, and the brand of a workspace."""

from __future__ import annotations

from assent.engine.core import brands as brands
from assent.engine.learning import pictures as pictures
