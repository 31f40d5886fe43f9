"""Measuring, remembering and diagnosing answer with their content, and say truly what went out."""

from __future__ import annotations

from tests.support.answers import bodies_of, calls_of, text_of
from tests.support.operators.fixtures import CLUB, LaunchClient


async def test_measuring_begins_with_what_went_out_and_ends_with_what_is_left(client: LaunchClient) -> None:
    run = (await client.call("chieflab_launch_product", {"channels": ["site", "linkedin"], **CLUB})).payload
    site, linkedin = (action["id"] for action in run["actions"])
    await client.approve_and_send(site)
    client.clock.advance(hours=25)

    told = (await client.call("chieflab_measure", {"runId": run["runId"]})).payload

    assert told["externalActionsExecuted"] == 1
    assert told["status"] == "partly_sent"
    message = told["agentGuide"]["userMessage"]
    assert message.startswith("1 of 2 went out. ")
    assert "Site: 0 views, 0 clicks after one day." in message
    assert bodies_of(told)["text"].startswith("**1 of 2 went out.**")
    first = calls_of(told)[0]
    assert (first["name"], first["args"]["actionId"]) == ("chieflab_approve_action", linkedin)
    assert told["agentGuide"]["nextToolCalls"]["primary"] == first


async def test_what_was_done_by_hand_promises_no_numbers_and_asks_for_those_that_are_seen(
    client: LaunchClient,
) -> None:
    posted = await client.call(
        "chieflab_post", {"channel": "hn", "title": "Show HN: Ledgerleaf", "body": "Bookkeeping for clubs."}
    )
    run_id, action_id = posted.payload["runId"], posted.payload["actions"][0]["id"]
    await client.call("chieflab_approve_action", {"actionId": action_id})
    url = "https://news.ycombinator.com/item?id=1"
    done = await client.call("chieflab_record_manual_publish", {"actionId": action_id, "url": url})
    shown = await client.call("chieflab_get_action", {"actionId": action_id})
    assert "Results arrive" not in text_of(done.payload) + text_of(shown.payload)

    for hours in (0, 25):
        client.clock.advance(hours=hours)
        refused = (await client.call("chieflab_measure", {"runId": run_id})).payload
        assert (refused["reason"], refused["retry"]) == ("measurement_unavailable", "never")
        [tell] = calls_of(refused)
        assert (tell["name"], tell["args"]) == (
            "chieflab_record_manual_metrics",
            {"runId": run_id, "channel": "hn"},
        )
    status = (await client.call("chieflab_status")).payload
    assert "chieflab_measure" not in [call["name"] for call in calls_of(status)]

    await client.call(tell["name"], {**tell["args"], "metrics": {"points": 3}, "source": "the page"})
    measured = (await client.call("chieflab_measure", {"runId": run_id})).payload
    assert measured["measurement"]["totals"] == {"points": 3}
    said = measured["agentGuide"]["userMessage"] + text_of(measured)
    assert "as told: “the page”" in said and "**Results**, read" not in said
    assert "where people responded" not in said and "after one day" not in said
    for name in ("chieflab_status", "chieflab_report"):
        later = text_of((await client.call(name)).payload)
        assert "as told" in later and "where people responded" not in later


async def test_a_report_says_why_something_approved_was_not_sent(client: LaunchClient) -> None:
    posted = await client.call("chieflab_post", {"channel": "slack", "body": "The import is ready."})
    await client.call("chieflab_approve_action", {"actionId": posted.payload["actions"][0]["id"]})

    told = (await client.call("chieflab_report")).payload

    [entry] = told["actions"]
    assert entry["outcome"] == "approvedNotSent"
    assert "Slack is not" in text_of(told)


async def test_a_report_has_the_numbers_of_each_post_and_the_best_of_several(client: LaunchClient) -> None:
    posted = []
    for views, title in ((30, "Gusts"), (50, "Tides")):
        client.zernio.metrics = {"views": views, "likes": 3}
        given = {"channel": "linkedin", "title": title, "body": f"{title} are on the map."}
        posted.append((await client.call("chieflab_post", given)).payload)
        await client.approve_and_send(posted[-1]["actions"][0]["id"])
        client.clock.advance(hours=25)
        await client.run_jobs()
    told = text_of((await client.call("chieflab_report")).payload)
    best = told.partition("**Best so far**")[2].partition("**Proof")[0]

    assert "30 views" in told
    assert "Tides" in best and "50 views" in best and "30 views" not in best


async def test_what_was_taken_back_or_seen_by_no_one_is_not_the_best(client: LaunchClient) -> None:
    ids = []
    for views, title in enumerate(("Gusts", "Tides", "Moons")):
        given = {"channel": "site", "title": title, "body": f"{title} are on the map."}
        run = (await client.call("chieflab_post", given)).payload
        ids.append(run["actions"][0]["id"])
        await client.approve_and_send(ids[-1])
        client.clock.advance(hours=25)
        seen = {"channel": "site", "metrics": {"views": views}, "source": "the page"}
        await client.call("chieflab_record_manual_metrics", {"runId": run["runId"], **seen})
    await client.run_jobs()

    best = []
    for action_id in (*ids[:0:-1], None):
        told = text_of((await client.call("chieflab_report")).payload)
        best.append([title for title in ("Gusts", "Tides", "Moons") if title in told.partition("**Best")[2]])
        if action_id is not None:
            undo = (await client.call("chieflab_undo_action", {"actionId": action_id})).payload
            await client.approve_and_send(undo["actions"][0]["id"])

    assert best == [["Moons"], ["Tides"], []]


async def test_nothing_is_to_be_done_about_what_was_taken_down(client: LaunchClient) -> None:
    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    action_id = run["actions"][0]["id"]
    await client.approve_and_send(action_id)
    client.clock.advance(hours=25)
    await client.run_jobs()
    before = (await client.call("chieflab_status")).payload
    undo = (await client.call("chieflab_undo_action", {"actionId": action_id})).payload
    await client.approve_and_send(undo["actions"][0]["id"])

    after = (await client.call("chieflab_status")).payload

    move = text_of(before).partition(" Next: ")[2].partition("\n")[0]
    assert move and move in before["userMessage"]
    assert len(after["extra"]["measured"]) == 1
    assert move not in after["userMessage"] + text_of(after)


async def test_looking_at_the_memory_of_an_unknown_tenant_makes_no_tenant(client: LaunchClient) -> None:
    told = (await client.call("chieflab_brain_read", {"tenantId": "nobody"})).payload

    assert told["tenantId"] == "nobody"
    assert (await client.call("chieflab_list_tenants")).payload["tenants"] == []


async def test_numbers_told_later_are_kept_beside_those_told_before(client: LaunchClient) -> None:
    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    await client.approve_and_send(run["actions"][0]["id"])
    client.clock.advance(hours=25)
    given = {"runId": run["runId"], "channel": "site", "source": "the page"}

    for metrics in ({"points": 2, "Link clicks": 1}, {"comments": 5, "linkClicks": 3}):
        told = (await client.call("chieflab_record_manual_metrics", {**given, "metrics": metrics})).payload

    assert told["metrics"] == {"points": 2, "comments": 5, "linkClicks": 3}
    assert told["userMessage"] == (
        "Noted for Site: 3 link clicks, 5 comments (the page). Known from before: 2 points."
    )
    measured = (await client.call("chieflab_measure", {"runId": run["runId"]})).payload
    assert measured["measurement"]["sources"][0]["metrics"] == told["metrics"]


async def test_numbers_that_are_told_once_the_results_are_due_are_measured_at_once(
    client: LaunchClient,
) -> None:
    run = (await client.call("chieflab_post", {"channel": "hn", **CLUB})).payload
    about = {"actionId": run["actions"][0]["id"]}
    await client.call("chieflab_approve_action", about)
    await client.call(
        "chieflab_record_manual_publish", {**about, "url": "https://news.ycombinator.com/item?id=1"}
    )
    client.clock.advance(days=2)
    await client.run_jobs()
    numbers = {"runId": run["runId"], "channel": "hn", "source": "the page", "metrics": {"points": 3}}

    await client.call("chieflab_record_manual_metrics", numbers)
    await client.run_jobs()

    found = (await client.call("chieflab_get_run", {"runId": run["runId"]})).payload
    assert "measurement" in [asset["type"] for asset in found["assets"]]
