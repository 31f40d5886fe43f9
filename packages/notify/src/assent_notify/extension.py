"""The ways to reach people that this distribution adds to the server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from assent.sdk import Extension

if TYPE_CHECKING:
    from assent.sdk import Notifier


def _make_notifiers(settings: Mapping[str, Any]) -> Iterable[Notifier]:
    from assent_notify.notifiers import make_notifiers

    return make_notifiers(settings)


EXTENSION: Final = Extension(name="notify", make_notifiers=_make_notifiers)
