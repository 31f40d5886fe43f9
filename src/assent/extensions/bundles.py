"""The extensions of this package, the suite and wrapping: loaded by name, because the core does not
import them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from assent.gate.connection import ConnectorInfo
from assent.gate.effects import EffectType
from assent.kernel.structs import Record

if TYPE_CHECKING:
    from starlette.routing import Route

    from assent.engine.core.services import Services
    from assent.engine.core.tenancy import Principal
    from assent.kernel.ids import RunId
    from assent.ports import Connector
    from assent.ports.notifiers import Notifier
    from assent.sql.components import Component

SUITE: Final = "assent.suite.bundle"
WRAP: Final = "assent.wrap.bundle"


class MissingExtra(Record):
    """An optional dependency that is not installed, the tools that need it, and what is missing
    without it."""

    name: str
    tools: tuple[str, ...]
    without: str


class BundleProcess(Protocol):
    """A bundle in one process: its parts that use the store or the network."""

    def make_connectors(self) -> Iterable[Connector]: ...

    def make_notifiers(self) -> Iterable[Notifier]: ...

    def make_routes(self, *, base_url: str, trust_proxy: bool) -> list[Route]:
        """Return the routes of the public pages that it serves."""
        ...

    async def prepare_sample(self, principal: Principal) -> RunId:
        """Prepare a run with one harmless draft, so that a person can try how it is decided."""
        ...

    def preload(self) -> None:
        """Import the modules that the first action needs."""
        ...

    async def close(self) -> None:
        """Finish requests in flight and store values that are still buffered."""
        ...


class ExtensionBundle(Protocol):
    """A module that offers more than operators made of functions."""

    def list_tools(self) -> tuple[Any, ...]: ...

    def list_operators(self) -> tuple[Any, ...]:
        """Return the operators as the discovery documents list them (E50)."""
        ...

    def list_types(self) -> Iterable[EffectType]: ...

    def list_families(self) -> Iterable[EffectType]:
        """Return the types of effects whose names are not known here (`assent.gate.effects`)."""
        ...

    def list_connectors(self) -> Iterable[ConnectorInfo]: ...

    def list_components(self) -> tuple[Component, ...]:
        """Return its tables and statements."""
        ...

    def list_missing_extras(self) -> tuple[MissingExtra, ...]: ...

    def start(self, services: Services, settings: Mapping[str, Any]) -> BundleProcess:
        """Return the parts for one process. `settings` are the values of the settings by name,
        without the server's own secrets. Does no work."""
        ...


def load_bundle(name: str = SUITE) -> ExtensionBundle:
    return cast("ExtensionBundle", importlib.import_module(name))


def load_bundles() -> tuple[ExtensionBundle, ...]:
    return tuple(map(load_bundle, (SUITE, WRAP)))
