"""Values that every part uses: records, ids, limits, times, refusals."""

from __future__ import annotations

from assent.kernel.canonical import NotCanonical as NotCanonical
from assent.kernel.canonical import digest as digest
from assent.kernel.canonical import digest_of_bytes as digest_of_bytes
from assent.kernel.headers import has_encoded_word as has_encoded_word
from assent.kernel.headers import is_one_line as is_one_line
from assent.kernel.ids import ActionId as ActionId
from assent.kernel.ids import RunId as RunId
from assent.kernel.ids import TenantId as TenantId
from assent.kernel.ids import WorkspaceId as WorkspaceId
from assent.kernel.ids import first_uuid7 as first_uuid7
from assent.kernel.ids import is_uuid as is_uuid
from assent.kernel.ids import require_action_id as require_action_id
from assent.kernel.ids import require_run_id as require_run_id
from assent.kernel.limits import DAY_MS as DAY_MS
from assent.kernel.limits import HOUR_MS as HOUR_MS
from assent.kernel.limits import MAX_CONTENT_CHARS as MAX_CONTENT_CHARS
from assent.kernel.limits import MAX_PICTURE_BYTES as MAX_PICTURE_BYTES
from assent.kernel.limits import MAX_RECIPIENTS as MAX_RECIPIENTS
from assent.kernel.limits import MINUTE_MS as MINUTE_MS
from assent.kernel.reasons import MEANINGS as MEANINGS
from assent.kernel.reasons import Retry as Retry
from assent.kernel.refusals import Problem as Problem
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
from assent.kernel.texts import truncate as truncate
from assent.kernel.times import full_time as full_time
from assent.kernel.times import iso_time as iso_time
from assent.kernel.times import parse_time as parse_time
from assent.kernel.variables import OWN as OWN
from assent.kernel.variables import REFERENCE as REFERENCE
from assent.kernel.variables import list_unpassed as list_unpassed
from assent.kernel.variables import select_passed as select_passed
