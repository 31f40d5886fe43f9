"""The port for tools of wrapped servers, and what a gated call needs of the gate."""

from __future__ import annotations

from assent.engine.actions import decisions as decisions
from assent.engine.actions.content import describe as describe
from assent.engine.actions.editing import PreparedEdit as PreparedEdit
from assent.engine.connections.connections import note_start as note_start
from assent.engine.core import freezes as freezes
from assent.engine.core.waits import WaitedAction as WaitedAction
from assent.extensions.texts import render_labelled as render_labelled
from assent.gate.gate import Decider as Decider
from assent.gate.gate import SeenVersion as SeenVersion
from assent.gate.names import names_server as names_server
from assent.gate.records import Assurance as Assurance
from assent.kernel.tokens import KeyRing as KeyRing
from assent.kernel.tokens import TokenInvalid as TokenInvalid
from assent.present.refusals import needs_approval as needs_approval
from assent.serving.gateway import ClientPort as ClientPort
from assent.serving.gateway import ForeignCall as ForeignCall
from assent.serving.gateway import ToolGateway as ToolGateway
from assent.tools.definition import Peer as Peer
