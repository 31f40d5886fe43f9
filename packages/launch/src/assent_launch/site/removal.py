"""The tool that takes a published page down, as an action: staged here, then approved, executed and
recorded.

Only for pages of this server. Posts elsewhere are taken down there.
"""

from __future__ import annotations

from assent import Effect
from assent.sdk import (
    EXECUTE,
    WRITES,
    Action,
    ActionIdArgument,
    Arguments,
    Call,
    Draft,
    IdempotencyKey,
    Preparation,
    PreparedRun,
    Request,
    StagedEffect,
    Tool,
    Transaction,
    bad_argument,
    prepare_run,
    read_action,
    require_action_id,
)
from assent_launch import operators
from assent_launch.channels.site import UNPUBLISH
from assent_launch.site import feed as site_feed

NAME = "chieflab_take_down_post"
EXPECTED = "a post that is on this server's own site; what was published elsewhere is taken down there"


class TakeDownPost(Arguments, kw_only=True):
    action_id: ActionIdArgument
    idempotency_key: IdempotencyKey | None = None


async def take_down_post(call: Call, request: TakeDownPost) -> PreparedRun:
    action_id = require_action_id(request.action_id)
    workspace_id = call.caller.workspace_id

    def look() -> Transaction[tuple[Action, site_feed.SitePost | None]]:
        action, _ = yield from read_action(workspace_id, action_id)
        return action, (yield from site_feed.find_post_of(action))

    published, page = await call.services.store.read(look)
    on_site = published.status == "executed" and published.effect.connector == "site"
    if not on_site or published.effect.verb == UNPUBLISH or page is None:
        raise bad_argument("actionId", EXPECTED, f"{published.effect.type}, {published.status}")
    if page.removed_ms is not None:
        raise bad_argument("actionId", EXPECTED, "a post that was taken down before")
    where = published.external_url or call.services.links.base_url + site_feed.post_path(
        workspace_id, page.post_id
    )
    text = (
        f"The page “{page.headline}” at {where} is taken down. Its address says then that it is gone, and the feed "
        "leaves it out."
    )
    title = f"Take down “{page.headline}”"
    effect = Effect(
        channel="site",
        verb=UNPUBLISH,
        connector="site",
        title=title,
        body=text,
        details={"postId": page.post_id, "actionId": action_id},
    )
    return await prepare_run(
        call.services,
        Request(
            principal=call.caller,
            operator=operators.POST.id,
            tool=NAME,
            inputs={"actionId": action_id},
            tenant_id=published.tenant_id,
            parent_run_id=published.run_id,
            key=request.idempotency_key,
        ),
        Preparation(
            drafts=(Draft(type="takedown", title=title, body=text, channel="site"),),
            effects=(StagedEffect(effect=effect, executor_tool=EXECUTE, draft=0),),
        ),
        PreparedRun,
    )


TOOLS = (
    Tool(
        name=NAME,
        title="Take a post down",
        description="Prepares taking down a post of this server's own site; it is staged for approval and nothing "
        "changes by this call. USE WHEN the user wants to remove, delete or take a post, page or announcement off the "
        "site.",
        behaviour=WRITES,
        request=TakeDownPost,
        reply=PreparedRun,
        handler=take_down_post,
        scope="runs:write",
    ),
)
