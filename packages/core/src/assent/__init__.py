"""Assent lets AI agents act with a human's consent that the server enforces.

The names below are the public API for operators, effects and connectors; `assent.sdk` has that of packages which extend
the server. They are imported at their first use, because a server's first answer needs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from assent.extensions.channels import ChannelType as EffectType
    from assent.extensions.channels import MessageShape as Message
    from assent.extensions.channels import OAuth as OAuth
    from assent.extensions.channels import ProviderAccount as Account
    from assent.extensions.channels import ProviderConnector as Connector
    from assent.extensions.channels import TextLimit as Limit
    from assent.extensions.hooks import BadExtension as BadExtension
    from assent.extensions.operators import Operator as Operator
    from assent.extensions.options import ArgumentProblem as Problem
    from assent.extensions.options import Receipt as Receipt
    from assent.extensions.options import native_key as native_key
    from assent.extensions.options import natural_key as natural_key
    from assent.extensions.options import no_key as no_key
    from assent.extensions.options import read_back as read_back
    from assent.extensions.signatures import Money as Money
    from assent.gate.connection import KeyWords as Key
    from assent.gate.outcomes import NotConnected as NotConnected
    from assent.gate.outcomes import NotSent as NotSent
    from assent.gate.outcomes import OutcomeUnknown as OutcomeUnknown
    from assent.gate.records import Effect as Effect
    from assent.gate.views import Diff as Diff
    from assent.gate.views import Facets as Facets
    from assent.gate.views import Facts as Facts
    from assent.gate.views import Table as Table
    from assent.gate.views import Text as Text
    from assent.gate.views import View as View
    from assent.ports import ConnectionContext as ConnectionContext
    from assent.ports import Context as Context

_HOMES = {
    "assent.extensions.channels": (
        "ProviderAccount=Account ProviderConnector=Connector ChannelType=EffectType TextLimit=Limit "
        "MessageShape=Message OAuth"
    ),
    "assent.extensions.operators": "Operator",
    "assent.extensions.hooks": "BadExtension",
    "assent.extensions.options": "ArgumentProblem=Problem Receipt native_key natural_key no_key read_back",
    "assent.extensions.signatures": "Money",
    "assent.gate.connection": "KeyWords=Key",
    "assent.gate.outcomes": "NotConnected NotSent OutcomeUnknown",
    "assent.gate.records": "Effect",
    "assent.gate.views": "Diff Facets Facts Table Text View",
    "assent.ports": "ConnectionContext Context",
}
"""The names of each module, with their public ones."""

__all__ = [
    "Account",
    "BadExtension",
    "ConnectionContext",
    "Connector",
    "Context",
    "Diff",
    "Effect",
    "EffectType",
    "Facets",
    "Facts",
    "Key",
    "Limit",
    "Message",
    "Money",
    "NotConnected",
    "NotSent",
    "OAuth",
    "Operator",
    "OutcomeUnknown",
    "Problem",
    "Receipt",
    "Table",
    "Text",
    "View",
    "__version__",
    "native_key",
    "natural_key",
    "no_key",
    "read_back",
]


def import_late(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module whose names are imported from their homes at their first use. A name is
    written as `inside=public` if it has another one there."""
    pairs = [(home, each.partition("=")) for home, names in homes.items() for each in names.split()]
    places = {public or inside: (home, inside) for home, (inside, _, public) in pairs}

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        import importlib
        import sys

        home, inside = places[name]
        found = getattr(importlib.import_module(home), inside)
        setattr(sys.modules[module], name, found)
        return found

    return find


if not TYPE_CHECKING:
    __getattr__ = import_late(__name__, _HOMES)
