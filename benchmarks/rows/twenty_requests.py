"""What twenty requests of a user cost the agent that carries them out: the tokens of all answers, as they are sent.

The calls were recorded from agents that had the surface alone; the first ten are those of an outsider's trial. They are
made again against a server whose mail server is down and whose only working channel is its own feed. An argument such
as `$post.actions.0.id` is taken from the answer that the recording calls so.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final

import msgspec

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.processes.serve import Surfaces
from assent.serving.edge import Credentials, RequestContext
from assent.settings.load import load_settings
from benchmarks.figures import Figure, Limit, compared, require
from benchmarks.rows.gate_world import SECRETS
from benchmarks.tokens import count_tokens

MOST_A_CALL: Final = 650
MOST_CALLS: Final = 100
MOST_TOGETHER: Final = 65_000
MOST: Final = Limit(times=1)
NOWHERE: Final = {"ASSENT_SMTP_URL": "smtp://127.0.0.1:9", "ASSENT_SMTP_FROM": "Sam <sam@fernglass.example>"}
"""A port on which nothing listens: each mail fails before it is sent."""

STATUS, APPROVE, EDIT = "chieflab_status", "chieflab_approve_action", "chieflab_edit_action"
POST, SEND, RECORD = "chieflab_post", "chieflab_send", "chieflab_brain_record"
NOTES: Final = (
    "Hi Priya, hi Tom,\n\nthe import now refreshes only changed rows. Next week we look at exports.\n\nSam"
)
DARK: Final = "Dark mode is here: it follows the system setting, and every chart has been drawn again for it."


def _yes(name: str, *, send: bool = False) -> tuple[str, str, dict[str, Any]]:
    about = {"actionId": f"${name}.actions.0.id", "digest": f"${name}.actions.0.digest"}
    return f"{name} approved", APPROVE, about | ({"send": True} if send else {})


def _advance(answer: str, at: str, notes: str) -> tuple[str, str, dict[str, Any]]:
    tokens = {"stateToken": f"${at}.stateToken", "ackToken": f"${at}.ackToken"}
    return answer, "workflow_advance", {**tokens, "context": {"notesMarkdown": notes}}


REQUESTS: Final[dict[str, tuple[tuple[str, str, dict[str, Any]], ...]]] = {
    "announce dark mode on the blog and Bluesky, not before Thursday 9:00": (
        ("start", STATUS, {}),
        (
            "launch",
            "chieflab_launch_product",
            {"goal": "tell users", "drafts": {"site": DARK, "bluesky": DARK}, "scheduleFor": "$thursday"},
        ),
        ("by hand", "chieflab_use_manual_fallback", {"actionId": "$launch.actions.0.id"}),
        ("bluesky", APPROVE, {"actionId": "$launch.actions.1.id", "digest": "$launch.actions.1.digest"}),
        ("site", APPROVE, {"actionId": "$launch.actions.0.id", "digest": "$by hand.digest"}),
    ),
    "send Priya and Tom the notes, Lena in cc, a bit warmer, then send": (
        (
            "notes",
            SEND,
            {
                "to": ["priya@x.example", "tom@x.example"],
                "cc": ["lena@x.example"],
                "subject": "Notes",
                "body": NOTES,
            },
        ),
        (
            "warmer",
            EDIT,
            {"actionId": "$notes.actions.0.id", "body": f"{NOTES}\n\nThank you both!", "asked": "Warmer."},
        ),
        (
            "sent",
            APPROVE,
            {"actionId": "$notes.actions.0.id", "digest": "$warmer.digest", "send": True},
        ),
    ),
    "what did you do last month, did it work, what again?": (
        ("report", "chieflab_report", {"since": "P31D"}),
    ),
    "refund Jo 40 euros": (),
    "our bug process; back to step two; what did the other attempt find?": (
        ("found", "workflow_list", {"query": "bug"}),
        ("one", "workflow_start", {"workflowId": "assent.bug-fix", "context": {"ticketId": "SHOP-88"}}),
        _advance("two", "one", "Windows only, the user says."),
        _advance("three", "two", "Opened with cp1252."),
        _advance("other", "two", "Opened with a byte order mark."),
        ("where", "workflow_resume", {"sessionId": "SHOP-88"}),
    ),
    "never say revolutionary, always sign as the crew; no, forget that": (
        (
            "rule",
            RECORD,
            {"kind": "brand_voice", "body": 'Never say "revolutionary". Sign as "the Fernglass crew".'},
        ),
        ("broken", POST, {"channel": "site", "body": "A revolutionary little change."}),
        (
            "mended",
            EDIT,
            {"actionId": "$broken.actions.0.id", "body": "A little change.\n\nthe Fernglass crew"},
        ),
        ("forgotten", "chieflab_brain_forget", {"entryId": "$rule.entries.0.entryId"}),
    ),
    "approve everything that waits": (
        ("waiting", "chieflab_list_pending_actions", {}),
        (
            "all",
            APPROVE,
            {"actions": [{"actionId": "$waiting.actions.0.id", "digest": "$waiting.actions.0.digest"}]},
        ),
    ),
    "connect our LinkedIn": (("connect", "chieflab_connect_provider", {"provider": "linkedin"}),),
    "I decided it on the page": (
        ("page", POST, {"channel": "site", "body": DARK}),
        ("decided", "chieflab_get_action", {"actionId": "$page.actions.0.id"}),
    ),
    "why did the newsletter not go out?": (("why", STATUS, {}),),
    "our price is 12 euros a month, keep that in mind": (
        ("price", RECORD, {"kind": "repo_fact", "body": "The price is 12 euros a month."}),
    ),
    "put a line on the site, now": (
        ("line", POST, {"channel": "site", "body": "Tern v2 is out."}),
        _yes("line", send=True),
    ),
    "stop, don't send Priya's mail": (
        ("stopped", "chieflab_withdraw_approval", {"actionId": "$notes.actions.0.id"}),
    ),
    "send it on Friday instead": (
        ("friday", EDIT, {"actionId": "$notes.actions.0.id", "scheduleFor": "$friday at nine"}),
        ("friday approved", APPROVE, {"actionId": "$notes.actions.0.id", "digest": "$friday.digest"}),
    ),
    "tell Hacker News; I posted it myself": (
        (
            "hn",
            POST,
            {"channel": "hn", "title": "Show HN: Tern", "body": "Tern turns spreadsheets into tables."},
        ),
        _yes("hn"),
        (
            "posted",
            "chieflab_record_manual_publish",
            {"actionId": "$hn.actions.0.id", "url": "https://news.ycombinator.com/item?id=1"},
        ),
    ),
    "it got 120 upvotes": (
        (
            "upvotes",
            "chieflab_record_manual_metrics",
            {"runId": "$hn.runId", "channel": "hn", "metrics": {"points": 120}, "source": "the page"},
        ),
    ),
    "nobody signs up, what are we doing wrong?": (("diagnosis", "chieflab_diagnose_marketing", {}),),
    "take the line off the site again": (
        ("down", "chieflab_undo_action", {"actionId": "$line.actions.0.id"}),
        _yes("down", send=True),
    ),
    "no, scrap that draft": (
        ("scrapped", "chieflab_reject_action", {"actionId": "$page.actions.0.id", "reason": "Too pushy."}),
    ),
    "what do you know about us, and who said yes to what?": (
        ("known", "chieflab_brain_read", {}),
        ("proof", "chieflab_report", {}),
    ),
}


def measure(scratch: Path) -> list[Figure]:
    answers = asyncio.run(carry_out(scratch / "data"))
    tokens = count_tokens(*answers)
    calls, together = len(answers), sum(tokens)
    return [
        _size("twenty requests, calls", "calls", calls, MOST_CALLS, calls),
        _size("twenty requests, all answers", "tokens", together, MOST_TOGETHER, calls),
        _size("twenty requests, an answer on average", "tokens", round(together / calls), MOST_A_CALL, calls),
    ]


async def carry_out(data_dir: Path) -> list[str]:
    """The texts of the answers, in the order of the calls."""
    given = {"ASSENT_DATA_DIR": str(data_dir), "ASSENT_RATE_LIMIT_PER_MINUTE": "100000", **SECRETS, **NOWHERE}
    app = App(load_settings({}, given).settings)
    await app.prepare()
    try:
        edge = Surfaces(app).edge
        here = RequestContext(Credentials(local=LOCAL_PRINCIPAL), "127.0.0.1", "benchmark")
        known: dict[str, Any] = _times()
        texts = []
        for calls in REQUESTS.values():
            for name, tool, arguments in calls:
                answer = await edge.answer(tool, _fill(arguments, known), here)
                require(not answer.is_error, 1, f"{tool} ({name}): {answer.text[:300]}")
                known[name] = msgspec.json.decode(answer.text)
                texts.append("\n".join(answer.texts(structured=True)))
        return texts
    finally:
        await app.close()


def _times() -> dict[str, Any]:
    """Nine o'clock in Berlin's winter, in two days and in three."""
    today = datetime.now(UTC).replace(hour=8, minute=0, second=0, microsecond=0)
    berlin = timezone(timedelta(hours=1))
    return {
        name: (today + timedelta(days=days)).astimezone(berlin).isoformat()
        for name, days in (("thursday", 2), ("friday at nine", 3))
    }


def _fill(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: _fill(each, known) for name, each in value.items()}
    if isinstance(value, list):
        return [_fill(each, known) for each in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    name, *path = value[1:].split(".")
    found = known[name]
    for step in path:
        found = found[int(step) if step.isdigit() else step]
    return found


def _size(work: str, unit: str, ours: int, most: int, calls: int) -> Figure:
    return compared(
        work, "the most it may be", unit, [float(ours)], [float(most)], successes=calls, limit=MOST
    )
