"""`chieflab-measure`: what became of a run. Its work is `engine/learning/measurement.py`."""

from __future__ import annotations

from assent.suite.operators.definition import OperatorInfo

INFO = OperatorInfo(
    id="chieflab-measure",
    label="Measure",
    function="Reads the results of a run from every source that has numbers and recommends the next move.",
    primary_tool="chieflab_measure",
    connectors=("site", "ga4", "search_console", "zernio", "bluesky", "resend"),
    status="live",
    tools=(
        "chieflab_measure",
        "chieflab_diagnose_marketing",
        "chieflab_check_measurement_due",
        "chieflab_record_manual_metrics",
        "chieflab_post_launch_review",
    ),
)
