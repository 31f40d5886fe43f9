"""Generates docs/reasons.md: `python -m assent.cli.pages.reasons > docs/reasons.md`."""

from __future__ import annotations

import sys

from assent.kernel.reasons import STANDARD_REASONS, Reason
from assent.serving.agent_texts import ABOUT_REFUSALS, write_reason

INTRODUCTION = f"""\
# Reasons

{ABOUT_REFUSALS}
Where sign-up is closed (`signups_per_hour = 0`), `missing_api_key` has no recovery tool and `retry` is `never`.

This page is made from the table in `src/assent/kernel/reasons.py`.
"""


def page() -> str:
    return "\n".join(
        [INTRODUCTION, "## Of the contract", "", *map(write_reason, STANDARD_REASONS), "## Our own", ""]
        + [write_reason(reason) for reason in Reason if reason not in STANDARD_REASONS]
    )


if __name__ == "__main__":
    sys.stdout.write(page())
