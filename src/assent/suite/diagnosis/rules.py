"""All diagnosis rules in one table, the heaviest first, and the function that runs them."""

from __future__ import annotations

from typing import Final

from assent.suite.diagnosis import readings, record
from assent.suite.diagnosis.diagnosis import WINDOW_DAYS, Diagnosis, DiagnosisFacts, DiagnosisRule, order
from assent.suite.diagnosis.gaps import missing

RULES: Final[tuple[DiagnosisRule, ...]] = (
    DiagnosisRule("outcome_unknown", "high", record.find_lost),
    DiagnosisRule("sends_fail", "high", record.find_failed),
    DiagnosisRule("not_connected", "high", record.unready),
    DiagnosisRule("mail_bounces", "high", readings.bounces),
    DiagnosisRule("mail_complaints", "high", readings.complaints),
    DiagnosisRule("not_seen", "high", readings.not_seen),
    DiagnosisRule("seen_not_answered", "high", readings.not_answered),
    DiagnosisRule("visitors_do_nothing", "high", readings.no_conversion),
    DiagnosisRule("few_respond", "medium", readings.few_answer),
    DiagnosisRule("reach_falls", "medium", readings.falling),
    DiagnosisRule("weaker_than_best", "medium", readings.weaker_than_best),
    DiagnosisRule("far_down_in_search", "medium", readings.far_down),
    DiagnosisRule("drafts_rejected", "medium", record.find_rejected),
    DiagnosisRule("decisions_wait", "medium", record.waiting),
    DiagnosisRule("drafts_expired", "low", record.find_expired),
    DiagnosisRule("nothing_sent_lately", "low", record.quiet),
)


def diagnose(facts: DiagnosisFacts) -> Diagnosis:
    found = [finding for rule in RULES for finding in rule.look(rule, facts)]
    return Diagnosis(
        has_data=bool(facts.observations),
        window_days=WINDOW_DAYS,
        findings=order(found, facts.goal),
        missing_data=missing(facts),
        observations=facts.observations,
        lessons=facts.lessons,
    )
