"""Pictures and other assets of a run."""

from __future__ import annotations

from assent.engine.learning import pictures as pictures
