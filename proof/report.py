"""Writes the report of a run of the programme, from counts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

MINIMUM: Mapping[str, int] = {
    "kills": 2_000,
    "double executes": 200_000,
    "stateful steps": 500_000,
    "database crashes": 100,
    "failovers": 20,
    "broken builds caught": 8,
}
"""The least that a report may count, by unit. A run with less proves too little to be kept."""
COLUMNS = ("run", "events", "calls", "actions", "effects", "double effects", "lost", "unresolved", "verdict")


@dataclass(frozen=True, slots=True)
class Row:
    """What one kind of run counted. `unit` names its events; `places` says where they struck, `notes` what else was
    seen."""

    name: str
    unit: str
    events: int
    calls: int = 0
    actions: int = 0
    effects: int = 0
    double_effects: int = 0
    lost: int = 0
    unresolved: int = 0
    clean: bool = True
    places: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    def add(self, other: Row) -> Row:
        """Both together."""
        return replace(
            self,
            events=self.events + other.events,
            calls=self.calls + other.calls,
            actions=self.actions + other.actions,
            effects=self.effects + other.effects,
            double_effects=self.double_effects + other.double_effects,
            lost=self.lost + other.lost,
            unresolved=self.unresolved + other.unresolved,
            clean=self.clean and other.clean,
            places=Counter(self.places) + Counter(other.places),
            notes={**self.notes, **other.notes},
        )


@dataclass(frozen=True, slots=True)
class About:
    """When, of what and where a run was made."""

    date: str
    commit: str
    machine: str
    minutes: float
    others_passed: int = 0
    others_failed: int = 0


def add_up(rows: Iterable[Row]) -> list[Row]:
    """One row for each name and unit, in the order of the first ones."""
    summed: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = row.name, row.unit
        summed[key] = summed[key].add(row) if key in summed else row
    return list(summed.values())


def count_units(rows: Iterable[Row]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for row in rows:
        counted[row.unit] += row.events
    return counted


def find_missing(rows: Iterable[Row]) -> list[str]:
    """What a run has too little of."""
    counted = count_units(rows)
    return [
        f"{unit}: {counted[unit]:,} of {least:,}" for unit, least in MINIMUM.items() if counted[unit] < least
    ]


def write_report(about: About, rows: Iterable[Row]) -> str:
    """The report as Markdown."""
    summed = add_up(rows)
    counted = count_units(summed)
    lines = [
        "# Reliability",
        "",
        "`make prove` writes this page from what it counts; no number here is written by hand. A judge in `proof/`",
        "imports nothing of the server. It reads the calls of every client with their answers, the ledger of the",
        "emulated provider, every record and the journal, and looks for a breach of eight promises: consent to exactly",
        "what is sent, one attempt at a time, one answer for a key, nothing lost, final states, workflow tokens, one",
        "measurement, an unbroken journal (P1 to P8). It also judges builds with one mistake each, and has to find the",
        "promise that each of them breaks.",
        "",
        f"- Date: {about.date}",
        f"- Commit: `{about.commit}`",
        f"- Machine: {about.machine}",
        f"- Time: {about.minutes:.0f} minutes",
        f"- Other tests with large numbers: {about.others_passed} passed, {about.others_failed} failed",
        "",
        "| counted | this run | at least |",
        "|---|---|---|",
        *(f"| {unit} | {counted[unit]:,} | {least:,} |" for unit, least in MINIMUM.items()),
        "",
        "A *double effect* is a second effect of one action in the provider's ledger. *Lost* is an acknowledged",
        "action, decision or execution that is not there afterwards. *Unresolved* actions wait for a person, because",
        "the provider can neither recognise a repetition nor be asked.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *map(_write_row, summed),
    ]
    places = [row for row in summed if row.places]
    if places:
        lines += ["", "Where the kills and faults struck:", ""]
    for row in places:
        struck = ", ".join(f"{name} {count:,}" for name, count in sorted(row.places.items()))
        lines.append(f"- {row.name}: {struck}")
    for row in summed:
        if row.notes:
            lines += ["", f"What was seen of {row.name}:", ""]
            lines += [f"- {name}: {seen}" for name, seen in row.notes.items()]
    return "\n".join(lines) + "\n"


def _write_row(row: Row) -> str:
    numbers = (row.calls, row.actions, row.effects, row.double_effects, row.lost, row.unresolved)
    cells = [row.name, f"{row.events:,} {row.unit}", *(f"{number:,}" for number in numbers)]
    return f"| {' | '.join([*cells, 'clean' if row.clean else 'BROKEN'])} |"
