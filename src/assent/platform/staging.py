"""Drafts and effects that an operator prepares, and actions in the store."""

from __future__ import annotations

from assent.engine.actions import actions as actions
from assent.engine.actions import circumstances as circumstances
from assent.engine.actions import execution as execution
from assent.engine.actions import recording as recording
from assent.engine.actions import staging as staging
from assent.engine.actions.staging import PreparedRun as PreparedRun
from assent.engine.actions.staging import Request as Request
from assent.ports.operators import THIS_RUN as THIS_RUN
from assent.ports.operators import Draft as Draft
from assent.ports.operators import Preparation as Preparation
from assent.ports.operators import StagedEffect as StagedEffect
