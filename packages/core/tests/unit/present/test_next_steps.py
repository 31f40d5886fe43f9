"""What stands in the way of an action, in the words of an answer."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.support.builders import REFUND, put_in

from assent.gate.transitions import APPROVED, EXECUTED, REJECTED
from assent.gate.views import View
from assent.kernel.limits import HOUR_MS
from assent.present.next_steps import PLAIN, Circumstances, describe_decision, describe_outcome, next_calls

BLOCKED = "The mail server does not accept the password."
AGAIN = "The server tries again within a minute."


@pytest.mark.parametrize(
    ("around", "said"),
    [
        (Circumstances(), None),
        (Circumstances(next_try=AGAIN), None),
        (Circumstances(blocker=BLOCKED), BLOCKED),
        (Circumstances(blocker=BLOCKED, next_try=AGAIN), f"{BLOCKED} {AGAIN}"),
        (Circumstances(blocker=BLOCKED, next_try=AGAIN, frozen="Ada stopped it."), "Ada stopped it."),
    ],
)
def test_an_obstacle_says_when_the_server_tries_again_unless_someone_stopped_it(
    around: Circumstances, said: str | None
) -> None:
    assert around.obstacle == said


@pytest.mark.parametrize("connectable", [True, False])
def test_connecting_is_offered_only_where_it_would_help(connectable: bool) -> None:
    around = Circumstances(blocker=BLOCKED, connectable=connectable)
    offered = {each.name for each in next_calls(put_in(APPROVED), around)}
    assert (
        "chieflab_connect_provider" in offered
    ) is connectable and "chieflab_execute_approved_action" in offered


def test_another_version_is_offered_of_what_somebody_wrote_and_of_nothing_else() -> None:
    written = put_in(REJECTED)
    called = put_in(REJECTED, replace(REFUND, arguments={"amount": "12.50 EUR"}))
    reverse = put_in(REJECTED, view=View(removes=True))

    offered = [
        "another version" in describe_decision("reject", each, PLAIN) for each in (written, called, reverse)
    ]

    assert offered == [True, False, False]


@pytest.mark.parametrize(
    ("after_ms", "said"), [(24 * HOUR_MS, "in about 24 hours."), (HOUR_MS, "in about 1 hour."), (20_000, "")]
)
def test_results_are_announced_in_whole_hours(after_ms: int, said: str) -> None:
    assert describe_outcome(put_in(EXECUTED), after_ms).partition("Results arrive ")[2] == said
