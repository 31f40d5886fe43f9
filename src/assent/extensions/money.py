"""Money and decimal numbers as arguments: exact, finite and bounded, texts on the wire.

A float cannot hold 0.10, and the JSON codec reads `NaN` and `1E+400` as decimals. So a decimal
argument is a text of digits, and money is such a text with a currency: `12.50 EUR`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from assent.kernel.shapes import DECIMAL, MAX_DIGITS, MAX_PLACES

DECIMAL_PATTERN: Final = f"^{DECIMAL}$"
MONEY_PATTERN: Final = f"^{DECIMAL} [A-Z]{{3}}$"
_MONEY: Final = re.compile(f"({DECIMAL}) ([A-Z]{{3}})", re.ASCII)


class Money:
    """An amount in a currency (ISO 4217). `str(money)` is its form on the wire: `12.50 EUR`.

    No struct and no dataclass, because the codec would read those from an object.
    """

    __slots__ = ("_currency", "_value")

    def __init__(self, value: Decimal, currency: str) -> None:
        """Raises `TypeError` for a value that is no Decimal, `ValueError` for one out of bounds."""
        if not isinstance(value, Decimal):
            raise TypeError(f"the value of money is a Decimal, not {type(value).__name__}")
        self._value = value
        self._currency = currency
        if _MONEY.fullmatch(str(self)) is None:
            raise ValueError(
                f"{str(self)[:60]!r} is not an amount with a currency such as 12.50 EUR "
                f"(at most {MAX_DIGITS} digits and {MAX_PLACES} places)"
            )

    @property
    def value(self) -> Decimal:
        return self._value

    @property
    def currency(self) -> str:
        return self._currency

    def __str__(self) -> str:
        bounded = self._value.is_finite() and abs(self._value.adjusted()) < 2 * MAX_DIGITS
        return f"{self._value:f} {self._currency}" if bounded else f"{self._value} {self._currency}"

    def __repr__(self) -> str:
        return f"Money({str(self._value)!r}, {self._currency!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Money):
            return NotImplemented
        return (self._value, self._currency) == (other._value, other._currency)

    def __hash__(self) -> int:
        return hash((self._value, self._currency))

    @classmethod
    def parse(cls, text: str) -> Money:
        """Parse `12.50 EUR`. Raises `ValueError` for any other form."""
        found = _MONEY.fullmatch(text)
        if found is None:
            raise ValueError(f"{text[:40]!r} is not an amount with a currency such as 12.50 EUR")
        return cls(Decimal(found[1]), found[2])


def encode_value(value: Any) -> Any:
    """Encoder hook: return the wire form of a value that the codec does not know."""
    if isinstance(value, Money):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def decode_value(kind: type[Any], value: Any) -> Any:
    """Decoder hook: build a value of a type that the codec does not know."""
    if kind is Money:
        return Money.parse(value)
    raise NotImplementedError(kind.__name__)
