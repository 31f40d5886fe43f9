"""The page about monitoring: every metric is listed with the words of `/metrics`, and alerts name ones that exist."""

from __future__ import annotations

import re

from tests.support.docs.pages import DOCS, block_of

from assent.kernel.limits import HOUR_MS
from assent.serving.site import AGES_MS, METRICS

TEXT = (DOCS / "monitoring.md").read_text(encoding="utf-8")


def test_the_page_lists_every_metric_with_its_kind_and_help() -> None:
    listed = re.findall(r"^\| `assent_(\w+)` \| (\w+) \| (.+) \|$", TEXT, re.MULTILINE)
    assert {name: (kind, said) for name, kind, said in listed} == dict(METRICS)


def test_the_alerts_are_about_metrics_that_exist() -> None:
    alerts = block_of("monitoring.md", "yaml", 1)
    named = set(re.findall(r"assent_(\w+)", alerts))
    assert named and named <= METRICS.keys()


def test_the_alert_about_old_questions_begins_after_a_day() -> None:
    ((label, listed),) = re.findall(
        r"assent_actions_waiting\{(\w+)=~\"([^\"]*)\"\}", block_of("monitoring.md", "yaml", 1)
    )
    older = [f"{age // HOUR_MS}h" for age in AGES_MS if age > 24 * HOUR_MS]
    assert (label, listed.split("|")) == ("younger_than", [*older, "older"])
