"""`chieflab-brain`: the memory of a tenant. Its work is `engine/learning/memory.py`."""

from __future__ import annotations

from assent.suite.operators.definition import OperatorInfo

INFO = OperatorInfo(
    id="chieflab-brain",
    label="Brain",
    function="Keeps voice, facts, proofs, results and decisions per tenant, and gives them to the next run.",
    primary_tool="chieflab_brain_read",
    connectors=(),
    status="live",
    tools=(
        "chieflab_brain_read",
        "chieflab_brain_record",
        "chieflab_add_voice_sample",
        "chieflab_list_voice_samples",
    ),
)
