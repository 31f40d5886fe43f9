"""Every rule of a diagnosis in one table, the heaviest first, and the one function that runs them."""

from __future__ import annotations

from typing import Final

from assent.lifecycle import diagnosis_readings as readings
from assent.lifecycle import diagnosis_record as record
from assent.lifecycle.diagnosis import WINDOW_DAYS, Diagnosis, Facts, Rule, ordered
from assent.lifecycle.diagnosis_gaps import missing

RULES: Final[tuple[Rule, ...]] = (
    Rule("outcome_unknown", "high", record.lost),
    Rule("sends_fail", "high", record.failed),
    Rule("not_connected", "high", record.unready),
    Rule("mail_bounces", "high", readings.bounces),
    Rule("mail_complaints", "high", readings.complaints),
    Rule("not_seen", "high", readings.not_seen),
    Rule("seen_not_answered", "high", readings.not_answered),
    Rule("visitors_do_nothing", "high", readings.no_conversion),
    Rule("few_respond", "medium", readings.few_answer),
    Rule("reach_falls", "medium", readings.falling),
    Rule("weaker_than_best", "medium", readings.weaker_than_best),
    Rule("far_down_in_search", "medium", readings.far_down),
    Rule("drafts_rejected", "medium", record.rejected),
    Rule("decisions_wait", "medium", record.waiting),
    Rule("drafts_expired", "low", record.expired),
    Rule("nothing_sent_lately", "low", record.quiet),
)


def diagnose(facts: Facts) -> Diagnosis:
    """Run every rule over what is known."""
    found = [finding for rule in RULES for finding in rule.look(rule, facts)]
    return Diagnosis(
        has_data=bool(facts.observations),
        window_days=WINDOW_DAYS,
        findings=ordered(found, facts.goal),
        missing_data=missing(facts),
        observations=facts.observations,
        lessons=facts.lessons,
    )
