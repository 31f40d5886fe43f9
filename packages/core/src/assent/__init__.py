"""Assent lets AI agents act with a human's consent that the server enforces.

The names below are the public API for operators, effects and connectors. They are
imported at their first use, because a server's first answer needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from assent.extensions.channels import ChannelType as EffectType
    from assent.extensions.channels import MessageShape as Message
    from assent.extensions.channels import OAuth as OAuth
    from assent.extensions.channels import ProviderAccount as Account
    from assent.extensions.channels import ProviderConnector as Connector
    from assent.extensions.channels import TextLimit as Limit
    from assent.extensions.operators import Operator as Operator
    from assent.extensions.options import ArgumentProblem as Problem
    from assent.extensions.options import BadExtension as BadExtension
    from assent.extensions.options import EffectNotSent as NotSent
    from assent.extensions.options import NotConnected as NotConnected
    from assent.extensions.options import Receipt as Receipt
    from assent.extensions.options import native_key as native_key
    from assent.extensions.options import natural_key as natural_key
    from assent.extensions.options import no_key as no_key
    from assent.extensions.options import read_back as read_back
    from assent.extensions.signatures import Money as Money
    from assent.gate.connection import KeyWords as Key
    from assent.gate.records import Effect as Effect
    from assent.gate.views import Diff as Diff
    from assent.gate.views import Facets as Facets
    from assent.gate.views import Facts as Facts
    from assent.gate.views import Table as Table
    from assent.gate.views import Text as Text
    from assent.gate.views import View as View
    from assent.ports import ConnectionContext as ConnectionContext
    from assent.ports import Context as Context
    from assent.ports import OutcomeUnknown as OutcomeUnknown

_PUBLIC = {
    "Account": ("assent.extensions.channels", "ProviderAccount"),
    "BadExtension": ("assent.extensions.options", "BadExtension"),
    "ConnectionContext": ("assent.ports", "ConnectionContext"),
    "Connector": ("assent.extensions.channels", "ProviderConnector"),
    "Context": ("assent.ports", "Context"),
    "Diff": ("assent.gate.views", "Diff"),
    "Effect": ("assent.gate.records", "Effect"),
    "EffectType": ("assent.extensions.channels", "ChannelType"),
    "Facets": ("assent.gate.views", "Facets"),
    "Facts": ("assent.gate.views", "Facts"),
    "Key": ("assent.gate.connection", "KeyWords"),
    "Limit": ("assent.extensions.channels", "TextLimit"),
    "Message": ("assent.extensions.channels", "MessageShape"),
    "Money": ("assent.extensions.signatures", "Money"),
    "NotConnected": ("assent.extensions.options", "NotConnected"),
    "NotSent": ("assent.extensions.options", "EffectNotSent"),
    "OAuth": ("assent.extensions.channels", "OAuth"),
    "Operator": ("assent.extensions.operators", "Operator"),
    "OutcomeUnknown": ("assent.ports", "OutcomeUnknown"),
    "Problem": ("assent.extensions.options", "ArgumentProblem"),
    "Receipt": ("assent.extensions.options", "Receipt"),
    "Table": ("assent.gate.views", "Table"),
    "Text": ("assent.gate.views", "Text"),
    "View": ("assent.gate.views", "View"),
    "native_key": ("assent.extensions.options", "native_key"),
    "natural_key": ("assent.extensions.options", "natural_key"),
    "no_key": ("assent.extensions.options", "no_key"),
    "read_back": ("assent.extensions.options", "read_back"),
}
"""The module of each public name, and its name there."""

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


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'assent' has no attribute {name!r}")
    import importlib

    module, inside = _PUBLIC[name]
    found = globals()[name] = getattr(importlib.import_module(module), inside)
    return found
