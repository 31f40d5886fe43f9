"""The credits of a workspace for metered actions: an account is the fold of its ledger.

Pure. A new account is unlimited; its spending is counted all the same.
"""

from __future__ import annotations

from typing import Literal

from assent.kernel.structs import WireRecord

Kind = Literal["grant", "limit", "unlimit", "reserve", "release", "settle", "charge"]


class CreditEntry(WireRecord, kw_only=True):
    """A line of the ledger. `charge` settles a refunded action that happened after all."""

    seq: int
    kind: Kind
    amount: int
    action_id: str | None
    attempt_id: str | None
    by: str
    at_ms: int


class CreditAccount(WireRecord):
    """A workspace's balance. `reserved` covers unfinished and unknown actions."""

    unlimited: bool = True
    granted: int = 0
    spent: int = 0
    reserved: int = 0
    seq: int = 0

    @property
    def available(self) -> int | None:
        """The credits left; None without a limit. Negative if more happened than was covered."""
        return None if self.unlimited else self.granted - self.spent - self.reserved
