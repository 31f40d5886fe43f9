"""Checks of what the other checks met on their way: limits of the rate, and lines between messages.
They make no call."""

from __future__ import annotations

from assent_conform.checks.checking import NotJudged, Scene, check, expect
from assent_conform.checks.shapes import expect_recovery
from assent_conform.checks.wire import RATE_LIMITED


@check("E87", "E97", "a call beyond the rate is refused with the time to wait", needs=(), writes=False)
async def rate_refusal(scene: Scene) -> None:
    met = scene.server.patience.first_refusal
    if met is None:
        raise NotJudged("this run met no limit of the rate")
    expect_recovery(met.payload, RATE_LIMITED)
    seconds = met.payload.get("retryAfterSeconds")
    expect(isinstance(seconds, int | float) and seconds > 0, "retryAfterSeconds says how long", seconds)
    expect(met.payload["retryable"] is True, "and that the call may be repeated then")
    if met.status != 200:
        expect(met.status == 429, "HTTP says 429", met.status)
        expect(met.headers.get("retry-after"), "with Retry-After")


@check("W75", "standard output has messages of the protocol alone", needs=("stdio",), writes=False)
async def clean_output(scene: Scene) -> None:
    strays = [line for server in (scene.server, scene.other) for line in server.wire.stray_lines()]
    expect(not strays, "every line of standard output is a message", strays)
