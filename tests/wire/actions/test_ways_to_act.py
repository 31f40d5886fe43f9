"""Every way to act, from the registries: a new one is found here, and has to say what it does during a freeze."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import get_args

import pytest
from packages.core.tests.wire.actions.test_freezes import freeze, unfreeze
from tests.support.actions.kit import APPROVE, EXECUTE, GET, PUBLISH, RESOLVE, SEND, Gate
from tests.support.sources import list_modules

from assent.extensions.hooks import load_extensions
from assent.gate.records import Assurance
from assent.gate.views import Executes
from assent.jobs.kinds import job_kinds
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.times import iso_time
from assent.tools.catalog import arrange

REACH_OUT = {
    "engine/actions/execution.py call_connector": "after a claim",
    "engine/actions/reconciliation.py ask_provider": "after a claim; a look-up only reads",
    "engine/actions/execution.py perform": "for these two, with the context of a claimed action",
    "assent_wrap/agent_calls.py claim_call": "hands a claim out",
    "assent_wrap/connector.py _read_present": "reads the freeze, unless the tool is trusted and only reads",
    "assent_wrap/connector.py perform": "a connector, after a claim",
    "assent_wrap/gateway.py _pass": "reads the freeze, unless the tool is trusted and only reads",
    "assent_wrap/gateway.py request": "reads the freeze; resources and prompts of trusted servers",
}
"""The functions that reach a provider, an agent's tool or a wrapped server, and what stops them."""
CLAIM = {"engine/actions/execution.py claim", "engine/actions/reconciliation.py mark_lost"}

TOOLS = {
    "refused": {EXECUTE, PUBLISH, SEND, "chieflab_claim_call"},
    "approves; what it sends is refused or waits": {APPROVE},
    "asks the provider again; a repetition waits": {RESOLVE},
    "reads numbers": {"chieflab_measure", "chieflab_post_launch_review", "chieflab_diagnose_marketing"},
    "stores, and calls no provider to act": {
        "chieflab_add_voice_sample",
        "chieflab_brain_forget",
        "chieflab_brain_record",
        "chieflab_connect_provider",
        "chieflab_create_social_graphics",
        "chieflab_create_tenant",
        "chieflab_disconnect_provider",
        "chieflab_edit_action",
        "chieflab_launch_product",
        "chieflab_post",
        "chieflab_propose_call",
        "chieflab_record_manual_metrics",
        "chieflab_record_manual_publish",
        "chieflab_reject_action",
        "chieflab_report_call",
        "chieflab_save_contacts",
        "chieflab_send",
        "chieflab_set_policy",
        "chieflab_signup_workspace",
        "chieflab_undo_action",
        "chieflab_use_manual_fallback",
        "chieflab_withdraw_approval",
        "workflow_advance",
        "workflow_checkpoint",
        "workflow_start",
    },
}
JOBS = {
    "waits": {"send_approved_action", "reconcile_action"},
    "reads numbers": {"measure_run"},
    "prepares": {"continue_run"},
    "names accounts, and wakes jobs that send, which wait": {"follow_connection"},
    "tells people and their programs what happens": {
        "deliver_webhook",
        "mail_sign_in_link",
        "notify_people",
        "remind_people",
    },
    "makes up for work that failed": {"repeat_subscriber"},
    "keeps house": {
        "erase_old_content",
        "forget_clients",
        "forget_finished_jobs",
        "forget_idempotency_keys",
        "forget_notifications",
        "forget_old_sessions",
        "forget_pictures",
        "forget_reminders",
        "forget_sign_ins",
        "forget_signup_links",
        "forget_webhook_deliveries",
        "index_staged",
        "write_audit_checkpoint",
    },
}
TRANSPORTS = ("assent_wrap/http_transport.py", "assent_wrap/transports.py", "assent_wrap/upstreams.py")
EXECUTORS = {"server": "claims", "agent": "claims", "person": "acts by hand, which no server can stop"}


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of the product, by file and name. Emulators and tools for tests are no part of it."""
    for name, path in list_modules().items():
        if name not in ("assent_launch/testing.py", "assent/client.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{name.removeprefix('assent/')} {node.name}", node


def reaches_out(name: str, node: ast.AST) -> bool:
    called = {
        each.func.attr if isinstance(each.func, ast.Attribute) else each.func.id
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute | ast.Name)
    }
    wraps = name.startswith("assent_wrap/") and not name.startswith(TRANSPORTS)
    return bool(called & {"perform", "hand_out"}) or (wraps and "request" in called)


def claims(node: ast.AST) -> bool:
    found = list(ast.walk(node))
    put = any(isinstance(each, ast.Attribute) and each.attr == "put_claim" for each in found)
    moves = any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Name)
        and each.func.id == "path"
        and any(isinstance(arg, ast.Attribute) and arg.attr == "CLAIM" for arg in each.args)
        for each in found
    )
    return put or moves


def test_every_function_that_reaches_out_is_known_and_every_claim_begins_with_the_lock() -> None:
    found = list(functions())
    assert {name for name, node in found if reaches_out(name, node)} == set(REACH_OUT)
    claiming = {name: node for name, node in found if claims(node)}
    assert set(claiming) == CLAIM
    for name, node in claiming.items():
        yields = [each for each in ast.walk(node) if isinstance(each, ast.Yield | ast.YieldFrom)]
        first = min(yields, key=lambda each: (each.lineno, each.col_offset))
        assert ast.unparse(first).startswith("(yield from freezes.begin_claim("), name


def test_every_tool_that_is_not_for_reading_says_what_it_does_during_a_freeze() -> None:
    offered = arrange([tool for extension in load_extensions() for tool in extension.list_tools()])
    acting = {tool.name for tool in offered if not tool.behaviour.read_only}
    assert acting == set().union(*TOOLS.values())
    far = {tool.name for tool in offered if tool.behaviour.open_world}
    assert far == TOOLS["refused"] | TOOLS["reads numbers"]


async def test_every_job_and_executor_says_what_it_does_during_a_freeze(surface: Gate) -> None:
    assert set(job_kinds(surface.app)) == set().union(*JOBS.values())
    assert set(get_args(Executes)) == set(EXECUTORS)


@pytest.mark.own_database
@pytest.mark.parametrize("everywhere", [True, False])
async def test_nothing_acts_on_a_frozen_server_or_workspace_and_all_of_it_afterwards(
    surface: Gate, everywhere: bool
) -> None:
    """Each tool that fires, each kind of connector, the approval that sends, the schedule, the page, the retry and
    the repetition."""
    where = SYSTEM_WORKSPACE if everywhere else surface.workspace_id
    by_tool = {
        tool: await surface.approved(connector="unaware", body=f"By {tool}.") for tool in (EXECUTE, PUBLISH)
    }
    by_tool[SEND] = await surface.approved(
        connector="unaware", verb="email", channel="email", subject="A note", recipients=["ada@example.org"]
    )
    by_connector = [
        await surface.approved(connector=each, body=f"Through {each}.") for each in surface.providers
    ]
    unknown = await surface.bring_to("outcome_unknown", connector="natural")
    retryable = await surface.bring_to("retryable", connector="unaware", body="Once more.")
    due = iso_time(surface.clock.now_ms() + 3_600_000)
    scheduled = await surface.approved(connector="unaware", body="Later.", scheduleFor=due)
    with_yes = await surface.staged(connector="unaware", body="With the yes.")
    pressed = await surface.staged(connector="unaware", body="Pressed on the page.")
    calls = surface.calls
    await freeze(surface, where)
    for tool, action_id in by_tool.items():
        assert (await surface.denied(tool, actionId=action_id))["reason"] == "frozen", tool
    for action_id in (*by_connector, retryable, scheduled):
        assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "frozen"
    answer = await surface.done(APPROVE, actionId=with_yes, send=True)
    assert (answer["sent"], answer["notSent"]["reason"]) == (False, "frozen")
    await surface.approve_as(Assurance.PERSON, pressed, send_now=True)
    await surface.done(RESOLVE, actionId=unknown, outcome="look_now")
    for _ in range(6):
        surface.clock.advance(seconds=1_200)
        await surface.run_jobs()
    assert surface.calls == calls
    await unfreeze(surface, where)
    for action_id in (*by_tool.values(), *by_connector, retryable, with_yes):
        await surface.done(EXECUTE, actionId=action_id)
    surface.clock.advance(seconds=30)
    await surface.run_jobs()
    for action_id in (scheduled, pressed, unknown):
        assert (await surface.done(GET, actionId=action_id))["status"] == "executed"
