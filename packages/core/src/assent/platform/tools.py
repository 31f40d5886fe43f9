"""Tools and their arguments."""

from __future__ import annotations

from assent.tools.arguments import ActionIdArgument as ActionIdArgument
from assent.tools.arguments import IdempotencyKey as IdempotencyKey
from assent.tools.arguments import PageSize as PageSize
from assent.tools.arguments import RunIdArgument as RunIdArgument
from assent.tools.arguments import TenantIdArgument as TenantIdArgument
from assent.tools.arguments import addresses as addresses
from assent.tools.arguments import is_address as is_address
from assent.tools.arguments import is_mailbox as is_mailbox
from assent.tools.arguments import line as line
from assent.tools.arguments import moment as moment
from assent.tools.catalog import Catalog as Catalog
from assent.tools.catalog import arrange as arrange
from assent.tools.definition import DECIDES as DECIDES
from assent.tools.definition import FIRES as FIRES
from assent.tools.definition import READS as READS
from assent.tools.definition import WRITES as WRITES
from assent.tools.definition import Behaviour as Behaviour
from assent.tools.definition import Call as Call
from assent.tools.definition import Tool as Tool
from assent.tools.long_runs import await_within_limit as await_within_limit
from assent.tools.report import describe_measured as describe_measured
from assent.tools.runs import refuse_unknown_id as refuse_unknown_id
from assent.tools.runs import require_run as require_run
