"""Measuring delivered effects with the code of an extension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assent.extensions.receipts import Receipt
from assent.gate.measurement.metrics import select_credible
from assent.gate.records import Action
from assent.ports import Reading


def read_stored_receipt(action: Action) -> Receipt:
    """Return the receipt of a delivered effect."""
    return Receipt(action.external_id or "", action.external_url, action.metadata.get("output"))


def read_metrics(source: str, channel: str, found: Any) -> Reading:
    """Return the reading of numbers by their names. Implausible ones are left out (E100)."""
    if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
        why = f"{source} returned {type(found).__name__} instead of numbers by their names"
        return Reading(source=source, channel=channel, status="unavailable", reason=why)
    numbers, left_out = select_credible(found)
    if not numbers and not left_out:
        return Reading(
            source=source, channel=channel, status="unavailable", reason=f"{source} gave no numbers"
        )
    return Reading(source=source, channel=channel, status="ok", metrics=numbers, left_out=left_out)
