"""Computes views with the code of an effect's type, before the transaction that stores them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from assent.engine.actions import actions
from assent.engine.core.extension_calls import call_extension
from assent.engine.core.offloading import run_apart, run_long_apart
from assent.engine.core.services import Services
from assent.gate.effects import EffectTypes
from assent.gate.records import Action, Effect
from assent.gate.views import View
from assent.kernel.ids import WorkspaceId
from assent.ports import Store, Transaction
from assent.sql.loader import statements

PAGE: Final = 200
"""How many actions of earlier versions get their views in one transaction."""


async def describe(services: Services, workspace_id: WorkspaceId, effect: Effect) -> View:
    """Return the view of an effect. Raises `Refusal` if the code of its type fails."""
    found, base_url = services.effects.find(effect), services.links.base_url
    work = partial(services.effects.describe, effect, workspace_id=workspace_id, base_url=base_url)
    if found is None or found.trusted:
        return await run_long_apart(len(effect.body), work)
    return await call_extension(found.operator or found.id, f"the description of {found.id}", work)


async def fill_views(store: Store, effects: Callable[[], EffectTypes], base_url: str) -> None:
    """Give actions that an earlier version staged their views. No earlier version had types of other
    packages, so their code is not called: it could fail or hang while the server starts."""

    def list_unviewed() -> Transaction[tuple[Action, ...]]:
        rows = yield statements.list_actions_without_view(most=PAGE)
        return actions.read_decodable(rows)

    def keep(found: list[Action]) -> Transaction[None]:
        for action in found:
            yield from actions.store_view(action)

    def view_all(found: tuple[Action, ...]) -> list[Action]:
        own = effects().select_trusted()
        return [
            msgspec.structs.replace(
                each, view=own.describe(each.effect, workspace_id=each.workspace_id, base_url=base_url)
            )
            for each in found
        ]

    while unviewed := await store.read(list_unviewed):
        viewed = await run_apart(view_all, unviewed)
        await store.write(partial(keep, viewed))
