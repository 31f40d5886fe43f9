"""What people see while sending is frozen."""

from __future__ import annotations

from tests.serving.web.review.kit import House, post

from assent.engine.core import freezes
from assent.engine.core.tenancy import LOCAL_WORKSPACE


async def test_every_page_says_that_nothing_is_sent_and_why(house_on_any_store: House) -> None:
    house = house_on_any_store
    run = await house.stage(post())
    owner = await house.owner()
    paths = ("/inbox", "/operations", "/audit", f"/runs/{run.run_id}")
    for path in paths:
        assert 'id="frozen"' not in (await owner.get(path)).text, path
    now_ms, why = house.clock.now_ms(), "a <b>wrong</b> price"
    await house.app.store.write(lambda: freezes.freeze(LOCAL_WORKSPACE, now_ms, by="cli", why=why))
    for path in paths:
        page = (await owner.get(path)).text
        assert 'id="frozen"' in page, path
        assert "a &lt;b&gt;wrong&lt;/b&gt; price" in page, path
    assert "All sending was stopped by" in (await owner.get("/audit")).text


async def test_a_person_approves_on_the_page_and_it_goes_out_after_the_freeze(house: House) -> None:
    run = await house.stage(post())
    owner = await house.owner()
    now_ms = house.clock.now_ms()
    await house.app.store.write(lambda: freezes.freeze(LOCAL_WORKSPACE, now_ms, by="cli", why=""))
    answer = await house.decide(owner, run.run_id, run.actions[0].id, "approve", then="send")
    assert answer.status_code == 303
    await house.run_jobs()
    assert house.provider.done == []
    await house.app.store.write(lambda: freezes.unfreeze(LOCAL_WORKSPACE, now_ms, by="cli"))
    house.clock.advance(seconds=30)
    await house.run_jobs()
    assert len(house.provider.done) == 1
