"""docs/reasons.md, made from the table of refusals: `python -m assent.reasons_page > docs/reasons.md`."""

from __future__ import annotations

import sys

from assent.kernel.refusals import MEANINGS, STANDARD_REASONS, Reason

INTRODUCTION = """\
# Reasons

Every refusal has the same shape: `ok: false`, `reason`, `summaryForUser`, `userMessage`, `fixActionForAgent`,
`recoveryTool`, `retryable`, `stopRule`, and `statusCode`; some reasons add facts such as `reviewUrl`,
`retryAfterSeconds` or `problems`.

What an agent does with it: if `retryable` is true and there is a `recoveryTool`, call it and then repeat the original
call; if `retryable` is true and there is none, wait `retryAfterSeconds` and repeat once; if `retryable` is false, stop
and show `userMessage`.

This page is made from the table in `src/assent/kernel/refusals.py`.
"""


def page() -> str:
    """The page as text."""
    return "\n".join(
        [INTRODUCTION, "## Of the contract", "", *map(_section, STANDARD_REASONS), "## Our own", ""]
        + [_section(reason) for reason in Reason if reason not in STANDARD_REASONS]
    )


def _section(reason: Reason) -> str:
    meaning = MEANINGS[reason]
    tool = f"`{meaning.recovery_tool}`" if meaning.recovery_tool is not None else "none"
    return (
        f"### `{reason}`\n\n{meaning.summary}\n\n"
        f"| HTTP status | retryable | recovery tool |\n|---|---|---|\n"
        f"| {meaning.status} | {'yes' if meaning.retryable else 'no'} | {tool} |\n\n"
        f"- **User:** {meaning.user_message}\n- **Agent:** {meaning.fix}\n- **Stop:** {meaning.stop_rule}\n"
    )


if __name__ == "__main__":
    sys.stdout.write(page())
