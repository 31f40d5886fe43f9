"""`chieflab-email`: one e-mail to the recipients it names."""

from __future__ import annotations

from assent.ports import Preparation
from assent.suite.content.records import NeedsDraft
from assent.suite.operators import post
from assent.suite.operators.definition import OperatorInfo, Workbench
from assent.suite.operators.drafts import SuppliedText, require_channel

INFO = OperatorInfo(
    id="chieflab-email",
    label="E-mail",
    function="Prepares one e-mail and sends it once it is approved.",
    primary_tool="chieflab_send",
    connectors=("smtp", "resend", "hubspot"),
    status="live",
    tools=("chieflab_send", "chieflab_execute_approved_action", "chieflab_save_contacts"),
)


def prepare(bench: Workbench, supplied: SuppliedText | None) -> Preparation | NeedsDraft:
    return post.prepare(bench, require_channel("email"), supplied)
