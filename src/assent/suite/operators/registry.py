"""All operators in the order of the list (E59).

Operators without a module of their own are described here.
"""

from __future__ import annotations

from typing import Final

from assent.platform.effects import BY_HAND
from assent.suite.channels.registry import CONNECTORS, name_connectors
from assent.suite.operators import launch, post
from assent.suite.operators.definition import OperatorInfo

EMAIL: Final = OperatorInfo(
    id="chieflab-email",
    label="E-mail",
    function="Prepares one e-mail and sends it once it is approved.",
    primary_tool="chieflab_send",
    connectors=name_connectors("send", "contacts"),
    status="live",
    tools=("chieflab_send", "chieflab_execute_approved_action", "chieflab_save_contacts"),
)
MEASURE: Final = OperatorInfo(
    id="chieflab-measure",
    label="Measure",
    function="Reads the results of a run from every source that has numbers and recommends the next move.",
    primary_tool="chieflab_measure",
    connectors=name_connectors("measure"),
    status="live",
    tools=(
        "chieflab_measure",
        "chieflab_diagnose_marketing",
        "chieflab_check_measurement_due",
        "chieflab_record_manual_metrics",
        "chieflab_post_launch_review",
    ),
)
BRAIN: Final = OperatorInfo(
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
CONNECT: Final = OperatorInfo(
    id="chieflab-connect",
    label="Connect",
    function="Tells how to connect a provider and whether it is connected.",
    primary_tool="chieflab_connect_provider",
    connectors=tuple(info.id for info in CONNECTORS if info is not BY_HAND),
    status="live",
    tools=(
        "chieflab_connect_provider",
        "chieflab_disconnect_provider",
        "chieflab_list_connectors",
        "chieflab_retry_blocked_action",
    ),
)

OPERATORS: Final[tuple[OperatorInfo, ...]] = (launch.INFO, post.INFO, EMAIL, MEASURE, BRAIN, CONNECT)
