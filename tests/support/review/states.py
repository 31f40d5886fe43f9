"""Runs whose actions are in every state that a page can show."""

from __future__ import annotations

from typing import Any

from tests.support.review.kit import Server, mail, post
from tests.support.surfaces import START_MS

from assent.engine.actions import decisions
from assent.engine.actions.staging import PreparedRun
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Assurance, Media
from assent.kernel.ids import ActionId
from assent.kernel.limits import HOUR_MS
from assent.kernel.refusals import Reason
from assent.ports import Draft, NotSent, OutcomeUnknown


async def every_state(server: Server) -> list[PreparedRun]:
    """Stage one run that waits, one that is decided, one without actions, one that is done by hand."""
    first = await server.stage(
        post(
            warnings=("A claim without a source.",),
            recommendations=("Add a picture.",),
            media=(Media(kind="image", url="https://cdn.example/a.png", alt="A picture"),),
            cost_credits=2,
        ),
        mail(
            html="<p>Hi <a href='https://evil.example'>example.org</a></p>",
            body="Pay \u202eevil\u202c now, please.",
        ),
        mail(60),
        post("site", connector="manual", expires_ms=START_MS + HOUR_MS),
        post(schedule_ms=START_MS + 5 * HOUR_MS),
    )
    second = await server.stage(
        *(post(name) for name in ("linkedin", "x", "threads", "bluesky", "facebook", "tiktok"))
    )
    browser = await server.opened(second)
    ids = [action.id for action in second.actions]

    async def sent(action_id: str, then: Exception | None) -> None:
        good = server.provider.then

        def fail(action: object) -> Any:
            assert then is not None
            raise then

        server.provider.then = fail if then is not None else good
        await server.decide(browser, second.run_id, action_id, "approve", then="send")
        await server.run_jobs()
        server.provider.then = good

    await sent(ids[0], None)
    await server.decide(browser, second.run_id, ids[1], "reject", reason="No.")
    await sent(ids[2], OutcomeUnknown("no answer"))
    await sent(ids[3], NotSent("busy", retry=True, reason=Reason.RATE_LIMITED))
    await sent(ids[4], NotSent("suspended"))
    agent = Decider(LOCAL_WORKSPACE, "key:0011223344556677", Assurance.AGENT, "chat")
    await server.app.store.write(
        lambda: decisions.approve(
            agent,
            ActionId(ids[5]),
            SeenVersion(),
            server.clock.now_ms(),
            seals=server.app.keys.seals,
        )
    )
    third = await server.stage(drafts=(Draft(type="report", title="Last week", body="Two posts."),))
    fourth = await server.stage(
        post("hn", connector="manual", title="Show HN: Assent"),
        post("workflow", verb="confirm", connector="workflow", title="Ship it"),
    )
    await server.decide(await server.opened(fourth), fourth.run_id, fourth.actions[0].id, "approve")
    return [first, second, third, fourth]
