"""Every reason has a meaning, and every refusal the whole shape (E51 to E53)."""

from __future__ import annotations

import string
from typing import Any

import jsonschema
import msgspec
import pytest
from tests.support.contract.seed_client import RECOVERY

from assent.kernel.reasons import MEANINGS, STANDARD_REASONS, Meaning, Reason, Retry
from assent.kernel.refusals import Problem, Recovery, Refusal, Words, bad_argument
from assent.kernel.schemas import flatten

STANDARD = (
    "missing_api_key",
    "missing_connector",
    "requires_approval",
    "missing_repo_context",
    "missing_credits",
    "workspace_not_found",
    "connector_failed",
    "measurement_unavailable",
    "invalid_action_id",
    "wrong_workspace",
    "rate_limited",
    "provider_not_live",
)
WORDS = ("summary", "user_message", "fix", "stop_rule")

every_reason = pytest.mark.parametrize("reason", Reason, ids=str)


def names_in(meaning: Meaning) -> set[str]:
    texts = [getattr(meaning, field) for field in WORDS]
    return {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def filled(reason: Reason, **added: Any) -> dict[str, Any]:
    """The wire form of a refusal that was given every fact its words ask for."""
    facts = {name: f"<{name}>" for name in names_in(MEANINGS[reason])}
    added = {"retry_after_seconds": 7, **added}
    refusal = Refusal(
        reason,
        facts=facts,
        request_id="00ff",
        problems=[Problem("a.b", "text", "5")],
        **added,
    )
    shape: dict[str, Any] = msgspec.to_builtins(refusal.recovery())
    return shape


@pytest.mark.rule("E52")
def test_the_twelve_standard_reasons_are_there_under_their_names_and_come_first() -> None:
    assert tuple(STANDARD_REASONS) == STANDARD
    assert tuple(Reason)[: len(STANDARD)] == STANDARD


@every_reason
def test_every_reason_has_a_meaning_with_all_its_words(reason: Reason) -> None:
    meaning = MEANINGS[reason]

    for field in WORDS:
        text = getattr(meaning, field)
        assert text.strip() == text
        assert text.endswith((".", "}")), (field, text)
    assert 400 <= meaning.status < 600


def test_the_table_holds_nothing_but_reasons() -> None:
    assert set(MEANINGS) == set(Reason)


@pytest.mark.rule("E51")
@every_reason
def test_every_refusal_has_the_eight_fields_and_fits_the_published_shape(reason: Reason) -> None:
    shape = filled(reason)

    assert set(RECOVERY) <= set(shape)
    assert shape["ok"] is False
    assert shape["reason"] == reason.value
    assert shape["statusCode"] == MEANINGS[reason].status
    assert isinstance(shape["retryable"], bool)
    jsonschema.Draft202012Validator(flatten(Recovery, keep_null=True)).validate(shape)
    assert msgspec.to_builtins(msgspec.convert(shape, Recovery)) == shape


@every_reason
def test_words_are_filled_when_the_facts_are_given_and_never_show_a_brace(reason: Reason) -> None:
    for shape in (filled(reason), msgspec.to_builtins(Refusal(reason).recovery())):
        for field in ("summaryForUser", "userMessage", "fixActionForAgent", "stopRule"):
            assert "{" not in shape[field]
            assert "}" not in shape[field]


@every_reason
def test_every_fact_that_the_words_ask_for_reaches_them(reason: Reason) -> None:
    shape = filled(reason)
    said = " ".join(
        shape[field] for field in ("summaryForUser", "userMessage", "fixActionForAgent", "stopRule")
    )
    own = {"retryAfterSeconds": "7", "requestId": "00ff", "count": "1"}

    for name in names_in(MEANINGS[reason]):
        assert own.get(name, f"<{name}>") in said


def test_a_fact_cannot_speak_for_another_or_reach_into_the_server() -> None:
    evil = "{reason.__class__.__mro__} {retryAfterSeconds} %s"
    refusal = Refusal(Reason.UNKNOWN_TOOL, facts={"tool": evil, "suggestion": ""})

    assert refusal.recovery().fix_action_for_agent.startswith(f"There is no tool {evil}.")


@pytest.mark.rule("E53", "E93")
def test_without_a_key_the_way_out_is_the_signup_tool_and_no_blind_retry() -> None:
    shape = filled(Reason.MISSING_API_KEY)

    assert shape["recoveryTool"]["name"] == "chieflab_signup_workspace"
    assert (shape["recoveryTool"]["args"], set(shape["recoveryTool"]["needs"])) == ({}, {"email"})
    assert (shape["retryable"], shape["retry"]) == (True, "after_recovery")
    assert "deliveryUrl" in shape["fixActionForAgent"]
    assert "wait" in shape["fixActionForAgent"]
    assert "without a key" in shape["stopRule"]


@pytest.mark.rule("E97")
def test_when_rate_limited_the_time_to_wait_is_a_number_and_the_retry_is_one() -> None:
    shape = filled(Reason.RATE_LIMITED)

    assert shape["retryAfterSeconds"] == 7
    assert (shape["retryable"], shape["recoveryTool"]) == (True, None)
    assert "once" in shape["fixActionForAgent"]


def test_an_approval_is_never_something_an_agent_can_recover_by_itself() -> None:
    # C15: naming approve_action here would make every obedient agent approve its own work.
    shape = filled(Reason.REQUIRES_APPROVAL, review_url="https://example.org/runs/1")

    assert (shape["retryable"], shape["recoveryTool"]) == (False, None)
    assert shape["reviewUrl"] == "https://example.org/runs/1"
    assert "STOP" in shape["fixActionForAgent"]
    for meaning in MEANINGS.values():
        assert meaning.recovery_tool not in ("chieflab_approve_action", "chieflab_execute_approved_action")


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        (Reason.MISSING_API_KEY, 401),
        (Reason.INVALID_API_KEY, 401),
        (Reason.WRONG_WORKSPACE, 401),
        (Reason.MISSING_CREDITS, 402),
        (Reason.REQUIRES_APPROVAL, 409),
        (Reason.IDEMPOTENCY_CONFLICT, 409),
        (Reason.VALIDATION_ERROR, 400),
        (Reason.RATE_LIMITED, 429),
        (Reason.CONNECTOR_FAILED, 502),
        (Reason.TEMPORARILY_UNAVAILABLE, 503),
    ],
)
def test_the_statuses_are_those_that_rest_callers_were_promised(reason: Reason, status: int) -> None:
    assert Refusal(reason).http_status == status


CLASSES = {
    "same": {
        "rate_limited",
        "execution_in_progress",
        "pictures_failed",
        "quota_exceeded",
        "temporarily_unavailable",
    },
    "changed": {
        "validation_error",
        "missing_repo_context",
        "unknown_tool",
        "workflow_not_found",
        "context_too_large",
        "idempotency_conflict",
        "too_many_pictures",
        "name_taken",
        "token_invalid_format",
        "token_unsupported_version",
        "token_bad_signature",
        "token_scope_mismatch",
        "token_unknown_node",
    },
    "after_recovery": {"missing_connector", "missing_api_key"},
}


@every_reason
def test_every_reason_says_what_to_repeat_and_its_words_agree(reason: Reason) -> None:
    meaning = MEANINGS[reason]
    named = next((retry for retry, reasons in CLASSES.items() if reason in reasons), "never")
    shape = msgspec.to_builtins(Refusal(reason).recovery())

    assert (shape["retry"], shape["retryable"]) == (named, named != "never")
    assert ("retryAfterSeconds" in filled(reason)) is (named == "same")
    assert ("retryAfterSeconds" in meaning.fix) is (meaning.retry is Retry.SAME)
    assert (shape["recoveryTool"] is not None) or meaning.retry is not Retry.AFTER_RECOVERY
    if meaning.retry is Retry.NEVER:
        assert shape["recoveryTool"] is None
        assert "stop" in meaning.fix.lower()
        assert "again" not in meaning.user_message or "prepare" in meaning.user_message


@pytest.mark.parametrize(
    "reason",
    ["requires_approval", "stale_revision", "outcome_unknown", "action_expired", "insufficient_scope"],
)
def test_nothing_that_a_person_has_to_decide_is_ever_retried(reason: str) -> None:
    shape = filled(Reason(reason), recovery_tool="chieflab_approve_action")

    assert (shape["retry"], shape["retryable"], shape["recoveryTool"]) == ("never", False, None)


def test_what_the_server_knows_of_a_recovery_is_not_asked_for() -> None:
    known = Refusal(Reason.MISSING_CONNECTOR, recovery_args={"provider": "resend"}).recovery()
    unknown = Refusal(Reason.MISSING_CONNECTOR).recovery()

    assert msgspec.to_builtins(known.recovery_tool) == {
        "name": "chieflab_connect_provider",
        "args": {"provider": "resend"},
    }
    assert unknown.recovery_tool is not None
    assert set(unknown.recovery_tool.needs) == {"provider"}


@every_reason
def test_absent_facts_leave_no_empty_fields_behind(reason: Reason) -> None:
    shape = msgspec.to_builtins(Refusal(reason).recovery())

    assert set(shape) == {*RECOVERY, "retry", "statusCode"}


def test_a_refusal_can_overrule_what_its_reason_says_by_default() -> None:
    words = Words(summary="It is down.", fix="Wait.")
    shape = filled(Reason.CONNECTOR_FAILED, retry=Retry.SAME, words=words, user_message="Zernio is down.")

    assert (shape["retry"], shape["retryable"]) == ("same", True)
    assert (shape["summaryForUser"], shape["userMessage"]) == ("It is down.", "Zernio is down.")
    assert shape["fixActionForAgent"] == "Wait."
    assert shape["stopRule"] == MEANINGS[Reason.CONNECTOR_FAILED].stop_rule


def test_a_bad_argument_names_its_place_what_was_expected_and_what_came() -> None:
    shape = msgspec.to_builtins(bad_argument("email", "an address", "'x'").recovery())

    assert shape["problems"] == [{"path": "email", "expected": "an address", "got": "'x'"}]
    assert "1" in shape["summaryForUser"]


def test_a_refusal_as_text_is_its_reason_and_nothing_of_its_facts() -> None:
    refusal = Refusal(Reason.CONNECTOR_FAILED, facts={"connector": "zernio", "detail": "token abc"})

    assert str(refusal) == "connector_failed"
    assert "abc" not in repr(refusal)
