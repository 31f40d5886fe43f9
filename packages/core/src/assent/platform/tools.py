"""Tools and their arguments."""

from __future__ import annotations

from assent.tools.arguments import Cursor as Cursor
from assent.tools.arguments import addresses as addresses
from assent.tools.arguments import is_address as is_address
from assent.tools.arguments import is_mailbox as is_mailbox
from assent.tools.arguments import line as line
from assent.tools.arguments import planned_time as planned_time
from assent.tools.catalog import Catalog as Catalog
from assent.tools.catalog import arrange as arrange
from assent.tools.long_runs import await_within_limit as await_within_limit
from assent.tools.report import RunText as RunText
from assent.tools.report import describe_actions as describe_actions
from assent.tools.runs import refuse_unknown_id as refuse_unknown_id
from assent.tools.runs import require_run as require_run
