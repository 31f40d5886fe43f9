"""Optional dependencies of an extension."""

from __future__ import annotations

from assent.extensions.bundles import MissingExtra as MissingExtra
