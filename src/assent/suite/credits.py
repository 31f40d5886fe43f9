"""The credits of a workspace for metered actions: an account is the fold of its ledger.

Pure. A new account is unlimited; its spending is counted all the same.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["grant", "limit", "unlimit", "reserve", "release", "settle", "charge"]


class CreditEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A line of the ledger. `charge` settles a refunded action that happened after all."""

    seq: int
    kind: Kind
    amount: int
    action_id: str | None
    attempt_id: str | None
    by: str
    at_ms: int


class CreditAccount(msgspec.Struct, frozen=True, rename="camel"):
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
