"""An operator for tests: stages exactly the given effects with the normal prepare.

`TOOL` is `testing_stage`; a test's catalog adds it (`Catalog([*ALL_TOOLS, TOOL])`), a server's
never has it.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import staging
from assent.engine.actions.staging import PreparedRun
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal
from assent.gate.records import Effect
from assent.gate.views import Severity
from assent.kernel.refusals import bad_argument
from assent.kernel.structs import Arguments
from assent.kernel.times import parse_time
from assent.ports import Draft, Preparation, StagedEffect
from assent.tools.definition import WRITES, Call, Tool
from assent.use_cases import runs

PUBLISH: Final = "chieflab_publish_approved_post"
SEND: Final = "chieflab_send_email"


class Wanted(Arguments, kw_only=True):
    """One effect to stage. `scheduleFor` and `expiresAt` are ISO 8601 with a zone."""

    body: str = "We shipped dark mode today. Try it in the settings."
    channel: str = "site"
    connector: str = "emulated"
    verb: str = "post"
    title: str = ""
    subject: str = ""
    recipients: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    reply_to: str = ""
    link: str = ""
    details: dict[str, Any] = {}
    severity: Severity | None = None
    schedule_for: str | None = None
    expires_at: str | None = None
    cost_credits: int = 0

    def staged(self, draft: int) -> StagedEffect:
        mail = self.verb in ("email", "send")
        return StagedEffect(
            effect=Effect(
                channel=self.channel,
                verb=self.verb,
                connector=self.connector,
                body=self.body,
                title=self.title,
                subject=self.subject,
                recipients=self.recipients,
                cc=self.cc,
                reply_to=self.reply_to,
                link=self.link,
                details=self.details,
            ),
            executor_tool=SEND if mail else PUBLISH,
            draft=draft,
            severity=self.severity,
            cost_credits=self.cost_credits,
            schedule_ms=_moment("scheduleFor", self.schedule_for),
            expires_ms=_moment("expiresAt", self.expires_at),
        )


class TestingStage(Wanted, frozen=True, kw_only=True):
    """An effect, and others in the same run."""

    __test__ = False

    also: tuple[Wanted, ...] = ()
    idempotency_key: str | None = None


async def stage(
    services: Services, principal: Principal, *wanted: Wanted, key: str | None = None
) -> PreparedRun:
    preparation = Preparation(
        drafts=tuple(
            Draft(type=f"{each.channel}_{each.verb}", title=each.title, body=each.body, channel=each.channel)
            for each in wanted
        ),
        effects=tuple(each.staged(draft) for draft, each in enumerate(wanted)),
    )
    request = staging.Request(
        principal=principal,
        operator="testing",
        tool=TOOL.name,
        inputs={"wanted": msgspec.to_builtins(wanted)},
        key=key,
    )
    return await runs.prepare(services, request, preparation, PreparedRun)


async def testing_stage(call: Call, request: TestingStage) -> PreparedRun:
    return await stage(call.services, call.caller, request, *request.also, key=request.idempotency_key)


def _moment(field: str, text: str | None) -> int | None:
    moment = parse_time(text) if text is not None else None
    if text is not None and moment is None:
        raise bad_argument(field, "a moment in ISO 8601 with a zone", text)
    return moment


TOOL: Final = Tool(
    name="testing_stage",
    title="Stage what a test wants",
    description="Stages the given effects for approval. Exists in tests only.",
    behaviour=WRITES,
    request=TestingStage,
    reply=PreparedRun,
    handler=testing_stage,
)
