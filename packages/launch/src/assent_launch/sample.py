"""A sample run: one page for the workspace's own site, which a person can approve, edit or reject.

It is a real draft and goes the way of every other one. It is published only if it is approved, and a published page
can be taken down.
"""

from __future__ import annotations

from typing import Final

from assent import Effect
from assent.sdk import (
    Draft,
    Preparation,
    PreparedRun,
    Principal,
    Request,
    RunId,
    Services,
    StagedEffect,
    prepare_run,
)
from assent_launch.channels.site import CHANNEL, INFO
from assent_launch.effect_types import PUBLISH

TITLE: Final = "We decide what goes out"
BODY: Final = """From today our agents prepare our posts and mails, and a person of ours approves each one.

You read only what one of us has seen and agreed to. If you find a mistake, write to us: a person answers.
"""
GOAL: Final = "Try out how a draft is approved"


async def prepare(services: Services, principal: Principal) -> RunId:
    """Stage the sample and return its run."""
    request = Request(
        principal=principal, operator="chieflab-post", tool="chieflab_create_post", inputs={"goal": GOAL}
    )
    effect = Effect(channel=CHANNEL.id, verb=CHANNEL.verb, connector=INFO.id, title=TITLE, body=BODY)
    preparation = Preparation(
        drafts=(Draft(type="post", title=TITLE, body=BODY, channel=CHANNEL.id),),
        effects=(StagedEffect(effect=effect, executor_tool=PUBLISH, draft=0),),
    )
    made = await prepare_run(services, request, preparation, PreparedRun)
    return RunId(made.run_id)
