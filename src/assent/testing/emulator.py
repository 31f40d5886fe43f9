"""A provider with one kind of effect, which it records in its ledger.

    POST /effects                 one effect; `Idempotency-Key` is recognised for a window, `naturalKey` always
    GET  /effects?reference=…     200 the effect, 404 none, 202 unknown: a call is still in progress

Runs inside a test (`async with Emulator(…).serving() as url`) or as a process of its own
(`assent.testing.standalone`). Its state is its ledger, so a restarted one knows its earlier
effects.
"""

from __future__ import annotations

from typing import Any, Final

from assent.testing.ledger import DoneEffect, Ledger
from assent.testing.provider_server import ProviderAnswer, ProviderRequest, ProviderServer, Route, json_answer
from assent.testing.standalone import main

KEY_WINDOW_MS: Final = 24 * 3600 * 1000


class Emulator(ProviderServer):
    name = "eff"

    def __init__(self, ledger: Ledger, *, key_window_ms: int = KEY_WINDOW_MS, **options: Any) -> None:
        super().__init__(ledger, **options)
        self._key_window_ms = key_window_ms

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", "/effects", self.perform),
            Route("GET", "/effects", self.look_up, is_page=True),
        )

    def read_reference(self, asked: ProviderRequest) -> str | None:
        if asked.method == "POST":
            return str(asked.json.get("reference", ""))
        return asked.query.get("reference", "")

    def perform(self, asked: ProviderRequest) -> ProviderAnswer:
        """Record the effect, unless its key was seen before."""
        wanted, key, now_ms = asked.json, asked.headers.get("idempotency-key"), self.now_ms()
        natural, reference = wanted.get("naturalKey"), self.read_reference(asked)
        known = any(
            (key is not None and done.key == key and now_ms - done.at_ms < self._key_window_ms)
            or (natural is not None and done.key == natural)
            for done in self.ledger.effects()
        )
        if not known:
            self.done(key or natural, wanted.get("effect"), reference)
        return json_answer(201, _describe(self.ledger.effects(reference)[-1]))

    def look_up(self, asked: ProviderRequest) -> ProviderAnswer:
        reference = asked.query.get("reference", "")
        if self._busy[reference]:
            return json_answer(202, {})
        done = self.ledger.effects(reference)
        return json_answer(200, _describe(done[0])) if done else json_answer(404, {})


def _describe(done: DoneEffect) -> dict[str, str]:
    return {"id": done.effect_id, "url": f"https://provider.example/{done.effect_id}"}


if __name__ == "__main__":
    main(Emulator)
