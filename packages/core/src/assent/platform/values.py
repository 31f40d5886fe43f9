"""Pure values and functions: records, ids, limits, times, refusals; effects, their types and views, and
the calls that follow them; cleaning and checking of texts; metrics and recommendations.
"""

from __future__ import annotations

from assent.gate.connection import NO_SOURCE as NO_SOURCE
from assent.gate.mail import is_personal as is_personal
from assent.gate.mail import keeps_requests as keeps_requests
from assent.gate.mail import keeps_text as keeps_text
from assent.gate.preflight import Remarks as Remarks
from assent.gate.preflight import may_lack_credits as may_lack_credits
from assent.gate.preflight import price as price
from assent.gate.records import WORKFLOW as WORKFLOW
from assent.gate.records import Asset as Asset
from assent.gate.records import PlannedTime as PlannedTime
from assent.gate.records import gives_numbers as gives_numbers
from assent.gate.records import is_by_hand as is_by_hand
from assent.gate.records import plan_interval as plan_interval
from assent.gate.transitions import Move as Move
from assent.kernel.guide import TEXT as TEXT
from assent.kernel.guide import Guide as Guide
from assent.kernel.guide import make_guide as make_guide
from assent.kernel.ids import AssetId as AssetId
from assent.kernel.ids import derive_uuid7 as derive_uuid7
from assent.kernel.ids import first_uuid7 as first_uuid7
from assent.kernel.limits import MAX_RECIPIENTS as MAX_RECIPIENTS
from assent.kernel.limits import MAX_VISIBLE as MAX_VISIBLE
from assent.kernel.reasons import MEANINGS as MEANINGS
from assent.kernel.refusals import Replay as Replay
from assent.kernel.texts import like as like
from assent.kernel.times import readable_time as readable_time
from assent.present import guidance as guidance
from assent.present.guidance import ActionRef as ActionRef
from assent.present.guidance import AgentUsefulness as AgentUsefulness
from assent.present.guidance import MemoryUsed as MemoryUsed
from assent.present.guidance import PictureView as PictureView
from assent.present.guidance import action_ref as action_ref
from assent.present.guidance import guide_unstaged as guide_unstaged
from assent.present.status_report import headline as headline
from assent.present.status_report import run_status as run_status
from assent.present.status_report import state_in_run as state_in_run
