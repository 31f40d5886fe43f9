"""The audit page is shown, verifies and names what was changed, whatever the rows on it say."""

from __future__ import annotations

import pytest
from tests.support.own_sql import bind_marks
from tests.support.review.kit import Server, forms, post

from assent.ports import Single

DEEP = "[" * 10_000
DAMAGES = (
    *(f"UPDATE events SET body = '{each}' WHERE stream_id = ?" for each in ("x", "{}", "null", "", DEEP)),
    "UPDATE events SET kind = 'step_blocked', body = '{\"issues\": 5}' WHERE stream_id = ?",
    "UPDATE events SET at_ms = 4000000000000000000 WHERE stream_id = ?",
    "UPDATE actions SET attempt = '{}' WHERE run_id = ?",
    *(f"UPDATE actions SET view = '{each}' WHERE run_id = ?" for each in ("x", "5", DEEP)),
    *(f"UPDATE runs SET inputs = '{each}' WHERE run_id = ?" for each in ("x", "null")),
)
NOT_UTF_8 = tuple(
    f"UPDATE events SET {column} = CAST(x'ff' AS TEXT) WHERE stream_id = ?"
    for column in ("kind", "body", "hash")
)


@pytest.mark.own_database
async def test_the_audit_page_names_changes_whatever_its_rows_say(server_on_any_store: Server) -> None:
    server = server_on_any_store
    owner = await server.owner()
    changed, other = await server.stage(post()), await server.stage(post())
    lie = "UPDATE actions SET digest = 'sha256:0' WHERE run_id = ?"
    await server.app.store.write(Single(bind_marks(lie, other.run_id)))
    only_sqlite = NOT_UTF_8 if server.app.store.dialect == "sqlite" else ()
    for damage in (*DAMAGES, *only_sqlite):
        await server.app.store.write(Single(bind_marks(damage, changed.run_id)))
        page = await owner.get("/audit")
        assert page.status_code == 200, damage[:90]
        form = next(each for each in forms(page.text) if each.address == "/audit/verify")
        verified = await owner.post("/audit/verify", data={**form.fields, "scope": "server"})
        assert verified.status_code == 200, damage[:90]
        verdict = verified.text.partition('id="verdict"')[2].partition("</div>")[0]
        assert other.actions[0].id in verdict and changed.run_id in verdict, damage[:90]
