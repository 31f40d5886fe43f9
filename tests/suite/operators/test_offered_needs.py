"""What an offered call lacks is said in its schema's words, and what is planned is shown with its time."""

from __future__ import annotations

from tests.suite.operators.conftest import Loop
from tests.suite.operators.test_cards import calls, mail


async def test_a_mail_can_be_planned_when_it_is_staged(loop: Loop) -> None:
    at = "2026-10-01T09:00:00Z"
    run = await mail(loop, "ana@example.org", scheduleFor=at)
    action = (await loop.call("chieflab_get_action", {"actionId": run["actions"][0]["id"]})).payload
    status = (await loop.call("chieflab_status", {})).payload

    assert action["scheduleFor"].startswith("2026-10-01T09:00:00")
    assert status["waiting"][0]["scheduleFor"].startswith("2026-10-01T09:00:00")
    assert "2026" in run["show"] and "2026" in status["show"]


async def test_what_an_offered_call_needs_names_fields_that_its_schema_has(loop: Loop) -> None:
    status = (await loop.call("chieflab_status", {})).payload
    sent = await mail(loop, "ana@example.org")
    connect = (await loop.call("chieflab_connect_provider", {"provider": "zernio"})).payload

    assert "whatChanged" in calls(status)["chieflab_launch_product"]["needs"]["repoContext"]
    saving = calls(sent)["chieflab_save_contacts"]["needs"]["contacts"]
    assert "firstName" in saving and "email" in saving
    assert "chieflab_retry_blocked_action" not in calls(connect)
