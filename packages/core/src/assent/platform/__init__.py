"""What packages of Assent may use of the server beyond the public API. It changes with the server.

docs/reference/extension-api.md describes every name, and a test counts them. Each is imported at its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from assent import import_late

if TYPE_CHECKING:
    from assent.__main__ import run_program as run_program
    from assent.cli.mcp_config import ClientFile as ClientFile
    from assent.engine.actions.hooks import Subscriber as Subscriber
    from assent.engine.connections.grants import Grantor as Grantor
    from assent.engine.connections.json_http import Exchanged as Exchanged
    from assent.engine.connections.json_http import exchange as exchange
    from assent.engine.connections.key_access import KeyAccess as KeyAccess
    from assent.engine.connections.oauth import OAuthAccess as OAuthAccess
    from assent.engine.core.brands import find as _find_brand
    from assent.engine.core.brands import find_logo as find_logo
    from assent.engine.core.connection_store import note_start as note_start
    from assent.engine.core.journal import note as _note_event
    from assent.engine.core.offloading import run_apart as run_apart
    from assent.extensions.effect_types import render_labelled as render_labelled
    from assent.gate.connection import ANY_ADDRESS as ANY_ADDRESS
    from assent.gate.connection import Access as Access
    from assent.gate.connection import Account as Account
    from assent.gate.connection import ChoiceWords as ChoiceWords
    from assent.gate.connection import Connection as Connection
    from assent.gate.connection import ConnectorInfo as ConnectorInfo
    from assent.gate.connection import ProviderWords as ProviderWords
    from assent.gate.connection import Verified as Verified
    from assent.gate.content.check import find_flaw as find_flaw
    from assent.gate.content.cleaning import LINE_CHARS as LINE_CHARS
    from assent.gate.content.cleaning import cut as cut
    from assent.gate.content.cleaning import one_line as one_line
    from assent.gate.content.cleaning import printable as printable
    from assent.gate.content.cleaning import speaks_to_a_model as speaks_to_a_model
    from assent.gate.content.suspicion import suspicions_in as suspicions_in
    from assent.gate.content.text_parts import sentences as sentences
    from assent.gate.effects import BY_HAND as BY_HAND
    from assent.gate.effects import ENVELOPE as ENVELOPE
    from assent.gate.effects import EffectType as EffectType
    from assent.gate.effects import EffectTypes as EffectTypes
    from assent.gate.effects import Reverse as Reverse
    from assent.gate.effects import Scene as Scene
    from assent.gate.effects import name_account as name_account
    from assent.gate.effects import name_people as name_people
    from assent.gate.mail import ALONE as ALONE
    from assent.gate.names import names_server as names_server
    from assent.gate.outcomes import Delivered as Delivered
    from assent.gate.outcomes import Delivery as Delivery
    from assent.gate.outcomes import Remainder as Remainder
    from assent.gate.preflight import MANY_RECIPIENTS as MANY_RECIPIENTS
    from assent.gate.preflight import Readiness as Readiness
    from assent.gate.preflight import is_expired as is_expired
    from assent.gate.rules.source import CallMatch as CallMatch
    from assent.gate.views import OPTIONAL_VALUES as OPTIONAL_VALUES
    from assent.gate.views import Block as Block
    from assent.gate.views import ByHand as ByHand
    from assent.gate.views import Field as Field
    from assent.gate.views import HandField as HandField
    from assent.gate.views import Preview as Preview
    from assent.gate.views import Repair as Repair
    from assent.gate.views import Unfit as Unfit
    from assent.kernel.canonical import digest as digest
    from assent.kernel.canonical import digest_of_bytes as digest_of_bytes
    from assent.kernel.distribution import word_install as word_install
    from assent.kernel.domains import with_ascii_form as with_ascii_form
    from assent.kernel.ids import is_uuid as is_uuid
    from assent.kernel.limits import MAX_CONTENT_CHARS as MAX_CONTENT_CHARS
    from assent.kernel.refusals import Problem as Problem
    from assent.kernel.texts import has_encoded_word as has_encoded_word
    from assent.kernel.texts import is_one_line as is_one_line
    from assent.kernel.texts import truncate as truncate
    from assent.kernel.times import full_time as full_time
    from assent.kernel.times import parse_time as parse_time
    from assent.kernel.tokens import KeyRing as KeyRing
    from assent.net.addresses import FetchRefused as FetchRefused
    from assent.net.addresses import numbers_of as numbers_of
    from assent.net.http_outcomes import MAX_DETAIL_CHARS as MAX_DETAIL_CHARS
    from assent.net.http_outcomes import failure as failure
    from assent.net.loopback import is_here as is_here
    from assent.net.mail import Letter as Letter
    from assent.net.mail import MailClient as MailClient
    from assent.net.mail import write_mail as write_mail
    from assent.net.mail_server import Mailbox as Mailbox
    from assent.net.mail_server import MailServer as MailServer
    from assent.net.mail_server import parse_mailbox as parse_mailbox
    from assent.net.mail_server import parse_server as parse_server
    from assent.net.outgoing import post_json as post_json
    from assent.ports.connectors import Campaign as Campaign
    from assent.ports.connectors import Connections as Connections
    from assent.ports.connectors import Connector as Connector
    from assent.ports.connectors import OfferedChoice as OfferedChoice
    from assent.ports.connectors import PicturesOf as PicturesOf
    from assent.ports.connectors import Reading as Reading
    from assent.ports.context import Deadline as Deadline
    from assent.ports.context import NoLookUp as NoLookUp
    from assent.ports.context import action_of as action_of
    from assent.present.refusals import describe_freeze as describe_freeze
    from assent.present.refusals import needs_approval as needs_approval
    from assent.present.refusals import refuse_frozen as refuse_frozen
    from assent.present.rule_text import describe_match as describe_match
    from assent.processes.local_server import LocalServer as LocalServer
    from assent.serving.gateway import ClientPort as ClientPort
    from assent.serving.gateway import ForeignCall as ForeignCall
    from assent.serving.web.shell.markdown import MAX_LINK_CHARS as MAX_LINK_CHARS
    from assent.serving.web.shell.markdown import plain_lines as plain_lines
    from assent.serving.web.shell.markdown import render as _render_markdown
    from assent.settings.client_config import name_program as name_program
    from assent.sql.components import NOW as NOW
    from assent.use_cases.decisions import replace_content as replace_content
    from assent.use_cases.decisions import take_back as take_back
    from assent.use_cases.executions import hand_out as hand_out
    from assent.use_cases.executions import report as _report_outcome

    find_brand = _find_brand
    note_event = _note_event
    render_markdown = _render_markdown
    report_outcome = _report_outcome

HOMES: Final = {
    "assent.__main__": "run_program",
    "assent.cli.mcp_config": "ClientFile",
    "assent.engine.actions.hooks": "Subscriber",
    "assent.engine.connections.grants": "Grantor",
    "assent.engine.connections.json_http": "exchange Exchanged",
    "assent.engine.connections.key_access": "KeyAccess",
    "assent.engine.connections.oauth": "OAuthAccess",
    "assent.engine.core.brands": "find=find_brand find_logo",
    "assent.engine.core.connection_store": "note_start",
    "assent.engine.core.journal": "note=note_event",
    "assent.engine.core.offloading": "run_apart",
    "assent.extensions.effect_types": "render_labelled",
    "assent.gate.connection": "Access Account ANY_ADDRESS ChoiceWords Connection ConnectorInfo ProviderWords Verified",
    "assent.gate.content.check": "find_flaw",
    "assent.gate.content.cleaning": "cut LINE_CHARS one_line printable speaks_to_a_model",
    "assent.gate.content.suspicion": "suspicions_in",
    "assent.gate.content.text_parts": "sentences",
    "assent.gate.effects": "BY_HAND EffectType EffectTypes ENVELOPE name_account name_people Reverse Scene",
    "assent.gate.mail": "ALONE",
    "assent.gate.names": "names_server",
    "assent.gate.outcomes": "Delivered Delivery Remainder",
    "assent.gate.preflight": "is_expired MANY_RECIPIENTS Readiness",
    "assent.gate.rules.source": "CallMatch",
    "assent.gate.views": "Block ByHand Field HandField OPTIONAL_VALUES Preview Repair Unfit",
    "assent.kernel.canonical": "digest digest_of_bytes",
    "assent.kernel.distribution": "word_install",
    "assent.kernel.domains": "with_ascii_form",
    "assent.kernel.ids": "is_uuid",
    "assent.kernel.limits": "MAX_CONTENT_CHARS",
    "assent.kernel.refusals": "Problem",
    "assent.kernel.texts": "has_encoded_word is_one_line truncate",
    "assent.kernel.times": "full_time parse_time",
    "assent.kernel.tokens": "KeyRing",
    "assent.net.addresses": "FetchRefused numbers_of",
    "assent.net.http_outcomes": "failure MAX_DETAIL_CHARS",
    "assent.net.loopback": "is_here",
    "assent.net.mail": "Letter MailClient write_mail",
    "assent.net.mail_server": "Mailbox MailServer parse_mailbox parse_server",
    "assent.net.outgoing": "post_json",
    "assent.ports.connectors": "Campaign Connections Connector OfferedChoice PicturesOf Reading",
    "assent.ports.context": "action_of Deadline NoLookUp",
    "assent.present.refusals": "describe_freeze needs_approval refuse_frozen",
    "assent.present.rule_text": "describe_match",
    "assent.processes.local_server": "LocalServer",
    "assent.serving.gateway": "ClientPort ForeignCall",
    "assent.serving.web.shell.markdown": "MAX_LINK_CHARS plain_lines render=render_markdown",
    "assent.settings.client_config": "name_program",
    "assent.sql.components": "NOW",
    "assent.use_cases.decisions": "replace_content take_back",
    "assent.use_cases.executions": "hand_out report=report_outcome",
}
"""The module of each name."""

if not TYPE_CHECKING:
    __getattr__ = import_late(__name__, HOMES)
