"""What packages of Assent may use of the server beyond the public API. It changes with the server.

docs/reference/extension-api.md describes every name, and a test counts them. Each is imported at its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from assent import import_late

if TYPE_CHECKING:
    from assent.__main__ import run_program as run_program
    from assent.cli.mcp_config import ClientFile as ClientFile
    from assent.engine.actions.hooks import ApprovalEnded as ApprovalEnded
    from assent.engine.actions.hooks import ChannelResult as ChannelResult
    from assent.engine.actions.hooks import Decided as Decided
    from assent.engine.actions.hooks import Erased as Erased
    from assent.engine.actions.hooks import Origin as Origin
    from assent.engine.actions.hooks import RunResult as RunResult
    from assent.engine.actions.hooks import Settled as Settled
    from assent.engine.actions.hooks import Staged as Staged
    from assent.engine.actions.hooks import StatusPart as StatusPart
    from assent.engine.actions.hooks import StatusQuery as StatusQuery
    from assent.engine.actions.hooks import Subscriber as Subscriber
    from assent.engine.actions.pictures import has_room as has_room
    from assent.engine.connections.grants import Grantor as Grantor
    from assent.engine.connections.json_http import Exchanged as Exchanged
    from assent.engine.connections.json_http import exchange as exchange
    from assent.engine.connections.key_access import KeyAccess as KeyAccess
    from assent.engine.connections.oauth import OAuthAccess as OAuthAccess
    from assent.engine.core.connection_store import note_start as note_start
    from assent.engine.core.journal import find_last as _find_last_event
    from assent.engine.core.journal import note as _note_event
    from assent.engine.views.run_views import count_drafts as count_drafts
    from assent.engine.views.run_views import count_sent as count_sent
    from assent.engine.views.run_views import read_heads as read_heads
    from assent.extensions.effect_types import render_labelled as render_labelled
    from assent.extensions.hooks import AgentWords as AgentWords
    from assent.gate.connection import Access as Access
    from assent.gate.connection import Account as Account
    from assent.gate.connection import ChoiceWords as ChoiceWords
    from assent.gate.connection import Connection as Connection
    from assent.gate.connection import ConnectorInfo as ConnectorInfo
    from assent.gate.connection import ProviderWords as ProviderWords
    from assent.gate.connection import Verified as Verified
    from assent.gate.content.cleaning import cut as cut
    from assent.gate.content.cleaning import one_line as one_line
    from assent.gate.content.cleaning import printable as printable
    from assent.gate.content.suspicion import reads_finished as reads_finished
    from assent.gate.content.text_parts import sentences as sentences
    from assent.gate.effects import BY_HAND as BY_HAND
    from assent.gate.effects import EffectType as EffectType
    from assent.gate.effects import EffectTypes as EffectTypes
    from assent.gate.effects import Reverse as Reverse
    from assent.gate.effects import Scene as Scene
    from assent.gate.names import names_server as names_server
    from assent.gate.outcomes import Delivered as Delivered
    from assent.gate.outcomes import Delivery as Delivery
    from assent.gate.outcomes import Remainder as Remainder
    from assent.gate.preflight import Readiness as Readiness
    from assent.gate.preflight import Remarks as Remarks
    from assent.gate.rules.source import CallMatch as CallMatch
    from assent.gate.views import OPTIONAL_VALUES as OPTIONAL_VALUES
    from assent.gate.views import ByHand as ByHand
    from assent.gate.views import Field as Field
    from assent.gate.views import HandField as HandField
    from assent.gate.views import Preview as Preview
    from assent.gate.views import Repair as Repair
    from assent.gate.views import Unfit as Unfit
    from assent.kernel.distribution import word_install as word_install
    from assent.kernel.refusals import Problem as Problem
    from assent.net.mail import MailClient as MailClient
    from assent.net.mail_server import Mailbox as Mailbox
    from assent.net.mail_server import MailServer as MailServer
    from assent.net.outgoing import post_json as post_json
    from assent.ports import Connector as Connector
    from assent.ports import Deadline as Deadline
    from assent.ports import NoLookUp as NoLookUp
    from assent.ports import Reading as Reading
    from assent.ports import action_of as action_of
    from assent.present.guidance import STATE_MACHINE as STATE_MACHINE
    from assent.present.refusals import describe_freeze as describe_freeze
    from assent.present.refusals import needs_approval as needs_approval
    from assent.present.refusals import refuse_frozen as refuse_frozen
    from assent.present.rule_text import describe_match as describe_match
    from assent.processes.local_server import LocalServer as LocalServer
    from assent.serving.gateway import ForeignCall as ForeignCall
    from assent.use_cases.decisions import replace_content as replace_content
    from assent.use_cases.decisions import take_back as take_back
    from assent.use_cases.executions import hand_out as hand_out
    from assent.use_cases.executions import report as _report_outcome

    find_last_event = _find_last_event
    note_event = _note_event
    report_outcome = _report_outcome

HOMES: Final = {
    "assent.__main__": "run_program",
    "assent.cli.mcp_config": "ClientFile",
    "assent.engine.actions.hooks": (
        "ApprovalEnded ChannelResult Decided Erased Origin RunResult Settled Staged StatusPart "
        "StatusQuery Subscriber"
    ),
    "assent.engine.actions.pictures": "has_room",
    "assent.engine.connections.grants": "Grantor",
    "assent.engine.connections.json_http": "exchange Exchanged",
    "assent.engine.connections.key_access": "KeyAccess",
    "assent.engine.connections.oauth": "OAuthAccess",
    "assent.engine.core.connection_store": "note_start",
    "assent.engine.core.journal": "find_last=find_last_event note=note_event",
    "assent.engine.views.run_views": "count_drafts count_sent read_heads",
    "assent.extensions.effect_types": "render_labelled",
    "assent.extensions.hooks": "AgentWords",
    "assent.gate.connection": "Access Account ChoiceWords Connection ConnectorInfo ProviderWords Verified",
    "assent.gate.content.cleaning": "cut one_line printable",
    "assent.gate.content.suspicion": "reads_finished",
    "assent.gate.content.text_parts": "sentences",
    "assent.gate.effects": "BY_HAND EffectType EffectTypes Reverse Scene",
    "assent.gate.names": "names_server",
    "assent.gate.outcomes": "Delivered Delivery Remainder",
    "assent.gate.preflight": "Readiness Remarks",
    "assent.gate.rules.source": "CallMatch",
    "assent.gate.views": "ByHand Field HandField OPTIONAL_VALUES Preview Repair Unfit",
    "assent.kernel.distribution": "word_install",
    "assent.kernel.refusals": "Problem",
    "assent.net.mail": "MailClient",
    "assent.net.mail_server": "Mailbox MailServer",
    "assent.net.outgoing": "post_json",
    "assent.ports": "action_of Connector Deadline NoLookUp Reading",
    "assent.present.guidance": "STATE_MACHINE",
    "assent.present.refusals": "describe_freeze needs_approval refuse_frozen",
    "assent.present.rule_text": "describe_match",
    "assent.processes.local_server": "LocalServer",
    "assent.serving.gateway": "ForeignCall",
    "assent.use_cases.decisions": "replace_content take_back",
    "assent.use_cases.executions": "hand_out report=report_outcome",
}
"""The module of each name."""

if not TYPE_CHECKING:
    __getattr__ = import_late(__name__, HOMES)
