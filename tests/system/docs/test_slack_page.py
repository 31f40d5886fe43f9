"""The page about Slack: its address is taken, its command links, and its policy lets a tap decide what it says."""

from __future__ import annotations

import tomllib

import msgspec
from packages.notify.tests.wire.test_slack import ADA, deliver, press, server, slack, staged  # noqa: F401 - fixtures
from tests.support.docs.pages import blocks_of
from tests.support.review.kit import Server

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import chat
from assent.engine.people.people import OWNER
from assent.gate.records import Assurance, Status
from assent.gate.rules.source import read_policy
from assent.gate.views import Severity
from assent.ports import Single
from assent.sql.loader import statements
from assent_conform.emulators.slack_app import ADDRESS, SlackApp
from assent_notify.slack import KIND
from assent_notify.slack_screen import SCOPES, write_manifest


def blocks() -> list[str]:
    return [
        "\n".join(line.strip() for line in text.splitlines()).strip() for _, text in blocks_of("slack.md")
    ]


def test_the_page_has_the_address_the_command_and_a_policy() -> None:
    address, command, policy = blocks()
    assert (address, command) == (ADDRESS, "/assent CODE")
    known = read_policy(tomllib.loads(policy), {})
    assert known.rules[0].ask is not None and known.rules[0].ask.assurance is Assurance.CHAT_APP
    made = write_manifest("https://assent.example/slack/w")
    assert made["settings"]["interactivity"]["request_url"].endswith("/slack/w")
    assert set(made["oauth_config"]["scopes"]["bot"]) == set(SCOPES)


async def test_the_steps_of_the_page_lead_to_a_tap_that_decides_medium_risk_and_not_high(
    server: Server,  # noqa: F811 - a fixture
    slack: SlackApp,  # noqa: F811 - a fixture
) -> None:
    address, command, policy = blocks()
    text = msgspec.json.encode(read_policy(tomllib.loads(policy), {})).decode()
    await server.app.store.write(Single(statements.set_policy(workspace_id=LOCAL_WORKSPACE, policy=text)))
    assert server.services.notifiers[KIND].check(server.services.outgoing, address) == ""
    code = chat.make_code(server.services, OWNER)
    typed = command.replace("CODE", code).partition(" ")[2]
    await deliver(server, slack.type_command(typed, ADA, server.clock.now_ms()), LOCAL_WORKSPACE)
    run_id, action_id = await staged(server)
    await press(server, slack, run_id, "approve")
    assert (await server.action(action_id)).status is Status.APPROVED
    high, _ = await staged(server, severity=Severity.HIGH)
    assert slack.button(slack.message_of(high), "approve") is None
