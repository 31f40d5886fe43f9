"""What a workspace may spend on metered actions: an account is the fold of its ledger, and nothing else.

Pure. Unlimited is the beginning; what is spent is counted all the same.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["grant", "limit", "unlimit", "reserve", "release", "settle", "charge"]


class CreditEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One line of the ledger. `charge` is a `settle` of what was given back before it turned out to have happened."""

    seq: int
    kind: Kind
    amount: int
    action_id: str | None
    attempt_id: str | None
    by: str
    at_ms: int


class CreditAccount(msgspec.Struct, frozen=True, rename="camel"):
    """Where a workspace stands. `reserved` is set aside for what is being sent or whose outcome is unknown."""

    unlimited: bool = True
    granted: int = 0
    spent: int = 0
    reserved: int = 0
    seq: int = 0

    @property
    def available(self) -> int | None:
        """What can still be spent; None without a limit. Below zero where more happened than was to be paid for."""
        return None if self.unlimited else self.granted - self.spent - self.reserved
