"""Generates docs/reasons.md: `python -m assent.cli.pages.reasons > docs/reasons.md`."""

from __future__ import annotations

import sys

from assent.kernel.reasons import MEANINGS, STANDARD_REASONS, Reason

INTRODUCTION = """\
# Reasons

Every refusal has the same shape: `ok: false`, `reason`, `summaryForUser`, `userMessage`, `fixActionForAgent`,
`recoveryTool`, `retryable`, `stopRule`, `retry` and `statusCode`; some reasons add facts such as `reviewUrl`,
`retryAfterSeconds` or `problems`.

`retry` says what an agent repeats:

- `same`: wait `retryAfterSeconds`, then repeat the call once.
- `changed`: correct the call and make it again. Where there is a `recoveryTool`, its answer has the right values.
- `after_recovery`: call `recoveryTool`, wait for what it asks of the person, then repeat the original call.
- `never`: stop and show `userMessage`.

`retryable` is true for the first three. `recoveryTool` has complete `args`; what only the person knows is listed in
`needs`, with what to ask for. `requires_approval` and `stale_revision` carry the content (`show`) and the `commands`
that the person may say about it.

This page is made from the table in `src/assent/kernel/reasons.py`.
"""


def page() -> str:
    return "\n".join(
        [INTRODUCTION, "## Of the contract", "", *map(_section, STANDARD_REASONS), "## Our own", ""]
        + [_section(reason) for reason in Reason if reason not in STANDARD_REASONS]
    )


def _section(reason: Reason) -> str:
    meaning = MEANINGS[reason]
    tool = f"`{meaning.recovery_tool}`" if meaning.recovery_tool is not None else "none"
    return (
        f"### `{reason}`\n\n{meaning.summary}\n\n"
        f"| HTTP status | retry | recovery tool |\n|---|---|---|\n"
        f"| {meaning.status} | {meaning.retry} | {tool} |\n\n"
        f"- **User:** {meaning.user_message}\n- **Agent:** {meaning.fix}\n- **Stop:** {meaning.stop_rule}\n"
    )


if __name__ == "__main__":
    sys.stdout.write(page())
