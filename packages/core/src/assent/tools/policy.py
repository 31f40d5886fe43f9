"""Tools to read the policy of a workspace and, with a key made for that, to change it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Any

import msgspec

from assent.engine.actions import policies
from assent.engine.actions.policies import PolicyVersion
from assent.engine.core.tenancy import POLICY_SCOPE
from assent.gate.policy import Policy
from assent.gate.rules.source import BadPolicy
from assent.kernel.refusals import Reason, Refusal, Replay
from assent.kernel.structs import Arguments, Record, WireRecord
from assent.kernel.times import iso_time
from assent.ports import Begin, Transaction
from assent.present.rule_text import describe_policy, name_policy
from assent.tools.arguments import IdempotencyKey
from assent.tools.definition import READS, WRITES, Call, Tool
from assent.use_cases import workspaces


class GetPolicy(Record, forbid_unknown_fields=True):
    """No arguments: the workspace is the key's."""


class SetPolicy(Arguments):
    policy: Annotated[
        dict[str, Any],
        msgspec.Meta(
            description="The whole policy: `preset` (relay, people, two_people or none) and `rule`, a list of objects "
            "with `name`, `when`, and `ask` or `deny` (docs/policy.md)."
        ),
    ]
    idempotency_key: IdempotencyKey | None = None


class PolicyAnswer(WireRecord):
    ok: bool
    name: str
    words: list[str]
    policy: dict[str, Any]
    version: int
    digest: str
    set_by: str
    set_at: str | None
    user_message: str
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


async def get_policy(call: Call, request: GetPolicy) -> PolicyAnswer:
    """Return the policy as data and in words."""
    return _answer(*(await call.services.store.read(lambda: _look(call))))


async def set_policy(call: Call, request: SetPolicy) -> PolicyAnswer:
    """Replace the policy. Refuses every unknown key and value."""
    workspace_id, by = call.caller.workspace_id, call.caller.name

    def write(begin: Begin[Policy]) -> Awaitable[PolicyAnswer]:
        def answer() -> Transaction[PolicyAnswer]:
            yield from begin()
            return _answer(*(yield from _look(call)))

        return call.write_once(request, answer, PolicyAnswer)

    try:
        return await workspaces.set_policy(workspace_id, request.policy, call.now_ms, write, by=by)
    except BadPolicy as bad:
        problems = [msgspec.structs.replace(each, path=f"policy.{each.path}") for each in bad.problems]
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems) from None


def _look(call: Call) -> Transaction[tuple[Policy, PolicyVersion]]:
    policy = yield from policies.find(call.caller.workspace_id)
    return policy, (yield from policies.find_version(call.caller.workspace_id))


def _answer(policy: Policy, version: PolicyVersion) -> PolicyAnswer:
    words = describe_policy(policy)
    return PolicyAnswer(
        ok=True,
        name=name_policy(policy),
        words=words,
        policy=version.source,
        version=version.version,
        digest=version.digest,
        set_by=version.by,
        set_at=iso_time(version.at_ms),
        user_message="\n".join((f"{name_policy(policy)}.", *words)),
    )


TOOLS = (
    Tool(
        name="chieflab_get_policy",
        title="Read the policy",
        description="Tells who may approve what in this workspace, in words and as data. USE WHEN the user asks who "
        "may approve, or why an approval in the chat does not count.",
        behaviour=READS,
        request=GetPolicy,
        reply=PolicyAnswer,
        handler=get_policy,
    ),
    Tool(
        name="chieflab_set_policy",
        title="Set the policy",
        description="Replaces the policy of this workspace. Needs a key with the scope policy:write, which no agent "
        "has unless a person made one for it. USE WHEN a program of the workspace's owner manages the policy.",
        behaviour=WRITES,
        request=SetPolicy,
        reply=PolicyAnswer,
        handler=set_policy,
        scope=POLICY_SCOPE,
        keyed_as="chieflab_set_policy",
    ),
)
