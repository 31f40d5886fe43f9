"""Which loopback addresses this machine has."""

from __future__ import annotations

import socket
from functools import cache
from typing import Final

LOOPBACKS: Final = ("127.0.0.1", "::1")
LOOPBACK_HOSTS: Final = frozenset({*LOOPBACKS, "localhost"})


@cache
def has_both() -> bool:
    """Whether both loopback addresses can be bound. The name `localhost` may lead to either, so it
    is safe only where this server holds its port on both."""
    for family, address in zip((socket.AF_INET, socket.AF_INET6), LOOPBACKS, strict=True):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.bind((address, 0))
        except OSError:
            return False
    return True
