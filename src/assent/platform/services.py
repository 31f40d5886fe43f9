"""The engine as extensions use it: the store and the services of a process, connectors with their access
and outcomes, staging, decisions, memory, measurement, jobs, people, and the port for wrapped servers.

An extension declares its tables with a `Component`: name, table prefix, and the folder that contains
`migrations/{sqlite,postgres}/0001_name.sql` and `statements/*.sql`. `component.statements` binds
them for a transaction.
"""

from __future__ import annotations

from assent.engine.actions import actions as actions
from assent.engine.actions import circumstances as circumstances
from assent.engine.actions import staging as staging
from assent.engine.actions.content import describe as describe
from assent.engine.actions.editing import PreparedEdit as PreparedEdit
from assent.engine.actions.execution import ExecutionOrder as ExecutionOrder
from assent.engine.actions.staging import PreparedRun as PreparedRun
from assent.engine.actions.staging import Request as Request
from assent.engine.connections import connections as connections
from assent.engine.connections.approved import NoLookUp as NoLookUp
from assent.engine.connections.approved import action_of as action_of
from assent.engine.connections.approved import not_ready as not_ready
from assent.engine.connections.connections import note_start as note_start
from assent.engine.connections.grants import Grantor as Grantor
from assent.engine.connections.grants import OAuthClient as OAuthClient
from assent.engine.connections.json_http import Exchanged as Exchanged
from assent.engine.connections.json_http import exchange as exchange
from assent.engine.connections.key_access import API_KEY as API_KEY
from assent.engine.connections.key_access import KeyAccess as KeyAccess
from assent.engine.connections.key_access import KeyConnector as KeyConnector
from assent.engine.connections.key_access import no_account as no_account
from assent.engine.connections.oauth_access import OAuthAccess as OAuthAccess
from assent.engine.connections.oauth_access import find_access as find_access
from assent.engine.connections.oauth_access import make_access as make_access
from assent.engine.core import freezes as freezes
from assent.engine.core import journal as journal
from assent.engine.core import tenancy as tenancy
from assent.engine.core.offloading import run_apart as run_apart
from assent.engine.core.offloading import run_long_apart as run_long_apart
from assent.engine.core.services import Services as Services
from assent.engine.core.tenancy import Principal as Principal
from assent.engine.core.waits import WaitedAction as WaitedAction
from assent.engine.learning import manual_metrics as manual_metrics
from assent.engine.learning import measurement as measurement
from assent.engine.learning import memory as memory
from assent.engine.learning import pictures as pictures
from assent.engine.learning.measured import Measurement as Measurement
from assent.engine.learning.measured import decode_measurement as decode_measurement
from assent.engine.learning.measurement import Scheduled as Scheduled
from assent.engine.learning.measurement import unavailable as unavailable
from assent.engine.learning.memory import Entry as Entry
from assent.engine.learning.memory import NewEntry as NewEntry
from assent.engine.people.notifiers import Notification as Notification
from assent.engine.people.notifiers import NotificationReceipt as NotificationReceipt
from assent.engine.people.notifiers import Notifier as Notifier
from assent.engine.people.notifiers import NotifierContext as NotifierContext
from assent.engine.webhooks import long_runs as long_runs
from assent.extensions.bundles import MissingExtra as MissingExtra
from assent.extensions.effect_types import render_labelled as render_labelled
from assent.gate.connection import Access as Access
from assent.gate.connection import Account as Account
from assent.gate.connection import Connection as Connection
from assent.gate.connection import ConnectionState as ConnectionState
from assent.gate.connection import OpenedSecrets as OpenedSecrets
from assent.gate.connection import Verified as Verified
from assent.gate.gate import Decider as Decider
from assent.gate.gate import SeenVersion as SeenVersion
from assent.gate.names import names_server as names_server
from assent.gate.outcomes import REFERENCE as REFERENCE
from assent.gate.outcomes import Delivered as Delivered
from assent.gate.outcomes import Delivery as Delivery
from assent.gate.outcomes import NotSent as NotSent
from assent.gate.outcomes import OutcomeUnknown as OutcomeUnknown
from assent.gate.outcomes import Remainder as Remainder
from assent.gate.records import Assurance as Assurance
from assent.gate.webhooks import mask_url as mask_url
from assent.kernel.tokens import KeyRing as KeyRing
from assent.kernel.tokens import TokenInvalid as TokenInvalid
from assent.ports.connectors import Campaign as Campaign
from assent.ports.connectors import Connections as Connections
from assent.ports.connectors import Connector as Connector
from assent.ports.connectors import Measurable as Measurable
from assent.ports.connectors import OfferedChoice as OfferedChoice
from assent.ports.connectors import PicturesOf as PicturesOf
from assent.ports.connectors import Reading as Reading
from assent.ports.context import PATIENCE as PATIENCE
from assent.ports.context import THIS_RUN as THIS_RUN
from assent.ports.context import Context as Context
from assent.ports.context import Deadline as Deadline
from assent.ports.context import Draft as Draft
from assent.ports.context import Picture as Picture
from assent.ports.context import Preparation as Preparation
from assent.ports.context import StagedEffect as StagedEffect
from assent.ports.store import Clock as Clock
from assent.ports.store import Row as Row
from assent.ports.store import Store as Store
from assent.ports.store import StoreUnavailable as StoreUnavailable
from assent.ports.store import Transaction as Transaction
from assent.present.refusals import needs_approval as needs_approval
from assent.serving.gateway import ClientPort as ClientPort
from assent.serving.gateway import ForeignCall as ForeignCall
from assent.sql.components import NOW as NOW
from assent.sql.components import Component as Component
from assent.sql.components import How as How
from assent.sql.components import Place as Place
from assent.use_cases import decisions as decisions
from assent.use_cases import executions as executions
from assent.use_cases.decisions import Decision as Decision
