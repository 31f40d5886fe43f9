"""The engine as extensions use it: the store and the services of a process, connectors with their access
and outcomes, staging, decisions, memory, measurement, jobs, people, and the port for wrapped servers.
"""

from __future__ import annotations

from assent.engine.actions import actions as actions
from assent.engine.actions import pictures as pictures
from assent.engine.actions import staging as staging
from assent.engine.actions.hooks import ApprovalEnded as ApprovalEnded
from assent.engine.actions.hooks import ChannelResult as ChannelResult
from assent.engine.actions.hooks import Claimed as Claimed
from assent.engine.actions.hooks import Decided as Decided
from assent.engine.actions.hooks import Erased as Erased
from assent.engine.actions.hooks import Origin as Origin
from assent.engine.actions.hooks import RunResult as RunResult
from assent.engine.actions.hooks import Settled as Settled
from assent.engine.actions.hooks import Staged as Staged
from assent.engine.actions.hooks import StatusPart as StatusPart
from assent.engine.actions.hooks import StatusQuery as StatusQuery
from assent.engine.core import connection_store as connection_store
from assent.engine.core import jobs as jobs
from assent.engine.core import journal as journal
from assent.engine.core import tenancy as tenancy
from assent.engine.core.offloading import run_long_apart as run_long_apart
from assent.engine.views import run_views as run_views
from assent.engine.views.names import read_names as read_names
from assent.engine.views.run_views import RunHead as RunHead
from assent.engine.views.run_views import SentCounts as SentCounts
from assent.engine.webhooks import long_runs as long_runs
from assent.gate.webhooks import mask_url as mask_url
from assent.ports.connectors import CampaignSource as CampaignSource
from assent.ports.connectors import Measurable as Measurable
from assent.ports.context import THIS_RUN as THIS_RUN
from assent.use_cases import runs as runs
from assent.use_cases.decisions import Write as Write
