"""The public API of packages that extend the server, beside `assent` for operators: what an `Extension` is made of.

docs/reference/extension-api.md describes every name. Each is imported at its first use, because a package is imported
at every start and most of its parts are not used then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from assent import import_late

if TYPE_CHECKING:
    from assent.cli.session import CommandSession as CommandSession
    from assent.cli.session import Failure as Failure
    from assent.cli.workspaces import WhichWorkspace as WhichWorkspace
    from assent.engine.actions.actions import find as _read_action
    from assent.engine.actions.actions import find_asset as _read_asset
    from assent.engine.actions.actions import insert_asset as _add_asset
    from assent.engine.actions.actions import list_of_tenant as _list_actions_since
    from assent.engine.actions.actions import run_actions as _list_actions
    from assent.engine.actions.staging import PreparedRun as PreparedRun
    from assent.engine.actions.staging import Request as Request
    from assent.engine.core.brands import find as _find_brand
    from assent.engine.core.jobs import Job as Job
    from assent.engine.core.jobs import JobDeferred as JobDeferred
    from assent.engine.core.jobs import JobKind as JobKind
    from assent.engine.core.jobs import complete_with_work as _complete_job
    from assent.engine.core.jobs import enqueue as _enqueue_job
    from assent.engine.core.offloading import run_apart as run_apart
    from assent.engine.core.services import Services as Services
    from assent.engine.core.tenancy import DEFAULT_TENANT as DEFAULT_TENANT
    from assent.engine.core.tenancy import Principal as Principal
    from assent.engine.core.tenancy import Tenant as Tenant
    from assent.engine.core.tenancy import add_tenant as add_tenant
    from assent.engine.core.tenancy import find_tenant as find_tenant
    from assent.engine.core.tenancy import list_tenants as list_tenants
    from assent.engine.people.chat import ChatEvent as ChatEvent
    from assent.engine.people.chat import ChatInstallation as ChatInstallation
    from assent.engine.people.chat import ChatLink as ChatLink
    from assent.engine.people.chat import end_link as _end_chat_link
    from assent.engine.people.chat import list_installations as _list_chat_apps
    from assent.engine.people.chat import list_links as _list_chat_links
    from assent.engine.people.chat import make_code as _make_chat_code
    from assent.extensions.hooks import Command as Command
    from assent.extensions.hooks import DoctorCheck as DoctorCheck
    from assent.extensions.hooks import Extension as Extension
    from assent.extensions.hooks import ExtensionProcess as ExtensionProcess
    from assent.gate.effects import EXECUTE as EXECUTE
    from assent.gate.records import Action as Action
    from assent.gate.records import Asset as Asset
    from assent.gate.records import ExecutionState as ExecutionState
    from assent.gate.records import Media as Media
    from assent.gate.records import PlannedTime as PlannedTime
    from assent.gate.records import Run as Run
    from assent.gate.records import Status as Status
    from assent.gate.views import Severity as Severity
    from assent.kernel.canonical import digest as digest
    from assent.kernel.guide import Guide as Guide
    from assent.kernel.guide import SuggestedCall as SuggestedCall
    from assent.kernel.guide import make_guide as make_guide
    from assent.kernel.ids import ActionId as ActionId
    from assent.kernel.ids import AssetId as AssetId
    from assent.kernel.ids import RunId as RunId
    from assent.kernel.ids import TenantId as TenantId
    from assent.kernel.ids import WorkspaceId as WorkspaceId
    from assent.kernel.ids import derive_uuid7 as _derive_id
    from assent.kernel.ids import is_uuid as is_uuid
    from assent.kernel.ids import require_action_id as require_action_id
    from assent.kernel.ids import require_run_id as require_run_id
    from assent.kernel.limits import DAY_MS as DAY_MS
    from assent.kernel.limits import HOUR_MS as HOUR_MS
    from assent.kernel.limits import MANY_RECIPIENTS as MANY_RECIPIENTS
    from assent.kernel.limits import MAX_CONTENT_CHARS as MAX_CONTENT_CHARS
    from assent.kernel.limits import MAX_RECIPIENTS as MAX_RECIPIENTS
    from assent.kernel.limits import MAX_VISIBLE as MAX_VISIBLE
    from assent.kernel.limits import MINUTE_MS as MINUTE_MS
    from assent.kernel.reasons import Retry as Retry
    from assent.kernel.refusals import Reason as Reason
    from assent.kernel.refusals import Refusal as Refusal
    from assent.kernel.refusals import Replay as Replay
    from assent.kernel.refusals import Words as Words
    from assent.kernel.refusals import bad_argument as bad_argument
    from assent.kernel.structs import Arguments as Arguments
    from assent.kernel.structs import Record as Record
    from assent.kernel.structs import WireRecord as WireRecord
    from assent.kernel.structs import from_record as from_record
    from assent.kernel.structs import from_row as from_row
    from assent.kernel.texts import is_one_line as is_one_line
    from assent.kernel.texts import like as _like_pattern
    from assent.kernel.times import full_time as full_time
    from assent.kernel.times import iso_time as iso_time
    from assent.kernel.times import parse_time as parse_time
    from assent.kernel.times import readable_time as readable_time
    from assent.net.addresses import FetchRefused as FetchRefused
    from assent.net.loopback import is_here as is_here
    from assent.net.outgoing import FetchedPage as FetchedPage
    from assent.ports import THIS_RUN as THIS_RUN
    from assent.ports import Clock as Clock
    from assent.ports import Draft as Draft
    from assent.ports import Notification as Notification
    from assent.ports import NotificationReceipt as NotificationReceipt
    from assent.ports import Notifier as Notifier
    from assent.ports import NotifierContext as NotifierContext
    from assent.ports import Picture as Picture
    from assent.ports import Preparation as Preparation
    from assent.ports import Row as Row
    from assent.ports import StagedEffect as StagedEffect
    from assent.ports import Store as Store
    from assent.ports import StoreUnavailable as StoreUnavailable
    from assent.ports import Transaction as Transaction
    from assent.present.guidance import PictureView as PictureView
    from assent.present.notes import NoteCard as NoteCard
    from assent.serving.web.shell.console import LOOK as LOOK
    from assent.serving.web.shell.console import LOOK_AND_SEND as LOOK_AND_SEND
    from assent.serving.web.shell.console import SEND as SEND
    from assent.serving.web.shell.console import Screen as Screen
    from assent.serving.web.shell.console import Visit as Visit
    from assent.serving.web.shell.lists import with_query as with_query
    from assent.serving.web.shell.markdown import plain_lines as plain_lines
    from assent.serving.web.shell.markdown import render as _render_markdown
    from assent.serving.web.shell.problems import NOT_FOUND as NOT_FOUND
    from assent.serving.web.shell.problems import Link as Link
    from assent.serving.web.shell.problems import PageProblem as PageProblem
    from assent.serving.web.shell.problems import PageRefused as PageRefused
    from assent.serving.web.shell.public_pages import PublicPages as PublicPages
    from assent.serving.web.shell.rendering import Badge as Badge
    from assent.serving.web.shell.rendering import NavigationEntry as NavigationEntry
    from assent.settings.table import Kind as Kind
    from assent.settings.table import Setting as Setting
    from assent.sql.components import NOW as NOW
    from assent.sql.components import Component as Component
    from assent.sql.components import How as How
    from assent.sql.components import Place as Place
    from assent.tools.arguments import ActionIdArgument as ActionIdArgument
    from assent.tools.arguments import Cursor as Cursor
    from assent.tools.arguments import IdempotencyKey as IdempotencyKey
    from assent.tools.arguments import PageSize as PageSize
    from assent.tools.arguments import ReasonArgument as ReasonArgument
    from assent.tools.arguments import RunIdArgument as RunIdArgument
    from assent.tools.arguments import TenantIdArgument as TenantIdArgument
    from assent.tools.arguments import require_addresses as require_addresses
    from assent.tools.arguments import require_line as require_line
    from assent.tools.definition import DECIDES as DECIDES
    from assent.tools.definition import FIRES as FIRES
    from assent.tools.definition import READS as READS
    from assent.tools.definition import WRITES as WRITES
    from assent.tools.definition import Behaviour as Behaviour
    from assent.tools.definition import Call as Call
    from assent.tools.definition import Tool as Tool
    from assent.tools.report import report_run as report_run
    from assent.tools.runs import require_run as _read_run
    from assent.use_cases.chat import ChatAnswer as ChatAnswer
    from assent.use_cases.chat import decide as _decide_in_chat
    from assent.use_cases.chat import link as _link_chat_account
    from assent.use_cases.runs import prepare as _prepare_run

    add_asset = _add_asset
    complete_job = _complete_job
    decide_in_chat = _decide_in_chat
    derive_id = _derive_id
    end_chat_link = _end_chat_link
    enqueue_job = _enqueue_job
    find_brand = _find_brand
    like_pattern = _like_pattern
    link_chat_account = _link_chat_account
    list_actions = _list_actions
    list_actions_since = _list_actions_since
    list_chat_apps = _list_chat_apps
    list_chat_links = _list_chat_links
    make_chat_code = _make_chat_code
    prepare_run = _prepare_run
    read_action = _read_action
    read_asset = _read_asset
    read_run = _read_run
    render_markdown = _render_markdown

HOMES: Final = {
    "assent.cli.session": "CommandSession Failure",
    "assent.cli.workspaces": "WhichWorkspace",
    "assent.engine.actions.actions": (
        "find=read_action find_asset=read_asset insert_asset=add_asset list_of_tenant=list_actions_since "
        "run_actions=list_actions"
    ),
    "assent.engine.actions.staging": "PreparedRun Request",
    "assent.engine.core.brands": "find=find_brand",
    "assent.engine.core.jobs": "complete_with_work=complete_job enqueue=enqueue_job Job JobDeferred JobKind",
    "assent.engine.core.offloading": "run_apart",
    "assent.engine.core.services": "Services",
    "assent.engine.core.tenancy": "add_tenant DEFAULT_TENANT find_tenant list_tenants Principal Tenant",
    "assent.engine.people.chat": (
        "ChatEvent ChatInstallation ChatLink end_link=end_chat_link list_installations=list_chat_apps "
        "list_links=list_chat_links make_code=make_chat_code"
    ),
    "assent.extensions.hooks": "Command DoctorCheck Extension ExtensionProcess",
    "assent.gate.effects": "EXECUTE",
    "assent.gate.records": "Action Asset ExecutionState Media PlannedTime Run Status",
    "assent.gate.views": "Severity",
    "assent.kernel.canonical": "digest",
    "assent.kernel.guide": "Guide make_guide SuggestedCall",
    "assent.kernel.ids": (
        "ActionId AssetId derive_uuid7=derive_id is_uuid require_action_id require_run_id RunId TenantId "
        "WorkspaceId"
    ),
    "assent.kernel.limits": (
        "DAY_MS HOUR_MS MANY_RECIPIENTS MAX_CONTENT_CHARS MAX_RECIPIENTS MAX_VISIBLE MINUTE_MS"
    ),
    "assent.kernel.reasons": "Retry",
    "assent.kernel.refusals": "bad_argument Reason Refusal Replay Words",
    "assent.kernel.structs": "Arguments from_record from_row Record WireRecord",
    "assent.kernel.texts": "is_one_line like=like_pattern",
    "assent.kernel.times": "full_time iso_time parse_time readable_time",
    "assent.net.addresses": "FetchRefused",
    "assent.net.loopback": "is_here",
    "assent.net.outgoing": "FetchedPage",
    "assent.ports": (
        "Clock Draft Notification NotificationReceipt Notifier NotifierContext Picture Preparation Row StagedEffect "
        "Store StoreUnavailable THIS_RUN Transaction"
    ),
    "assent.present.guidance": "PictureView",
    "assent.present.notes": "NoteCard",
    "assent.serving.web.shell.console": "LOOK LOOK_AND_SEND Screen SEND Visit",
    "assent.serving.web.shell.lists": "with_query",
    "assent.serving.web.shell.markdown": "plain_lines render=render_markdown",
    "assent.serving.web.shell.problems": "Link NOT_FOUND PageProblem PageRefused",
    "assent.serving.web.shell.public_pages": "PublicPages",
    "assent.serving.web.shell.rendering": "Badge NavigationEntry",
    "assent.settings.table": "Kind Setting",
    "assent.sql.components": "Component How NOW Place",
    "assent.tools.arguments": (
        "ActionIdArgument Cursor IdempotencyKey PageSize ReasonArgument require_addresses require_line RunIdArgument "
        "TenantIdArgument"
    ),
    "assent.tools.definition": "Behaviour Call DECIDES FIRES READS Tool WRITES",
    "assent.tools.report": "report_run",
    "assent.tools.runs": "require_run=read_run",
    "assent.use_cases.chat": "ChatAnswer decide=decide_in_chat link=link_chat_account",
    "assent.use_cases.runs": "prepare=prepare_run",
}
"""The module of each name."""

if not TYPE_CHECKING:
    __getattr__ = import_late(__name__, HOMES)
