"""Add numbers: what a person reads at a channel that gives the server none."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from assent.engine.core import jobs
from assent.engine.learning import manual_metrics, measurement
from assent.engine.views import measure_views
from assent.engine.views.measure_views import MeasurableRun
from assent.gate.measurement.metrics import LARGEST, name_number
from assent.kernel.ids import is_uuid
from assent.ports import Transaction
from assent.serving.web.results.screens import MAIL_FIELDS, NOT_SENT, POST_FIELDS
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.lists import whole_number, with_query
from assent.serving.web.shell.problems import PageRefused

MOST_SOURCE_CHARS: Final = 500
PATH: Final = "/results/numbers"


async def numbers(visit: Visit) -> Response:
    """Show the form for one channel of a run, and record what was typed."""
    run_id = visit.query("run")

    def look() -> Transaction[MeasurableRun | None]:
        if not is_uuid(run_id):
            return None
        return (yield from measure_views.find_measurable(visit.workspace_id, run_id))

    run = await visit.read(look)
    if run is None:
        raise PageRefused(NOT_SENT)
    channel = visit.choice("channel", run.channels) or next(iter(run.channels))
    fields = MAIL_FIELDS if run.channels[channel] else POST_FIELDS
    typed: dict[str, str] = {}
    advice: dict[str, str] = {}
    if visit.request.method == "POST":
        typed = await visit.form(visit.here(f"numbers {run_id} {channel}"))
        advice = find_mistakes(typed, fields)
        if not advice:
            await _record(visit, run, channel, typed, fields)
            return visit.go("/results?did=numbers")
    effects = visit.services.effects
    values: dict[str, Any] = {
        "run": run,
        "channels": [
            (effects.page_label(id), with_query(PATH, {"run": run_id, "channel": id}), id == channel)
            for id in run.channels
        ],
        "channel": effects.page_label(channel),
        "action": with_query(PATH, {"run": run_id, "channel": channel}),
        "fields": [(name, name_number(name).capitalize(), typed.get(name, "")) for name in fields],
        "source": typed.get("source", ""),
        "advice": advice,
        "nonce": visit.nonce(visit.here(f"numbers {run_id} {channel}")),
    }
    return visit.page("results_numbers.html", values, status=400 if advice else 200)


def find_mistakes(typed: dict[str, str], fields: tuple[str, ...]) -> dict[str, str]:
    """The advice for each field that cannot be read."""
    found = {}
    given = {name: text for name in fields if (text := _bare(typed.get(name, "")))}
    for name, text in given.items():
        number = whole_number(text, 13)
        if number is None or number > LARGEST:
            found[name] = "Enter a whole number, or leave it empty."
    if not given:
        found[fields[0]] = "Enter at least one number."
    source = typed.get("source", "").strip()
    if not source or len(source) > MOST_SOURCE_CHARS:
        found["source"] = "Say where you read the numbers, such as “LinkedIn, post analytics”."
    return found


def _bare(text: str) -> str:
    """A number without the separators that people type."""
    return text.strip().replace(",", "").replace(" ", "").replace("\u202f", "").replace("\u00a0", "")


async def _record(
    visit: Visit, run: MeasurableRun, channel: str, typed: dict[str, str], fields: tuple[str, ...]
) -> None:
    """Store the numbers, and measure the run with them if it is due."""
    given = {name: float(text) for name in fields if (text := _bare(typed.get(name, "")))}
    source = f"{typed['source'].strip()}, by {visit.person.label}"

    def record() -> Transaction[None]:
        yield from manual_metrics.record(visit.workspace_id, run.run_id, channel, given, source, visit.now_ms)
        planned = yield from measurement.find(visit.workspace_id, run.run_id)
        if planned is not None and planned.due_ms <= visit.now_ms:
            yield from jobs.enqueue(
                visit.workspace_id,
                measurement.MEASURE_JOB,
                f"{run.run_id}:{visit.now_ms}",
                {"runId": run.run_id},
                due_ms=visit.now_ms,
                now_ms=visit.now_ms,
            )

    await visit.write(record)


SCREENS: Final = (Screen(PATH, numbers, "results", LOOK_AND_SEND),)
