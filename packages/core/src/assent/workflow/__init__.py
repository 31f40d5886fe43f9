"""The workflow contract, pure: definitions, programs, and the machine that runs them.

    definition = parse(document, file)                    # or DefinitionRefused with every issue
    compiled   = compile_definition(definition, library)  # program, workflow_hash, warnings
    outcome    = start(compiled.program, context)         # Advanced | Complete | Blocked, with the pending step
    outcome    = advance(program, snapshot, Content(notes=…, output=…, context=…), decision)

Nothing here reads a clock, makes a token or stores anything; `ContentRefused` is raised for content
that cannot be taken at all, everything else is an outcome.
"""

from __future__ import annotations

from assent.workflow.dashboard import Dashboard, reduce
from assent.workflow.definition.compiler import Compiled, compile_definition
from assent.workflow.definition.source import Definition, DefinitionRefused, parse
from assent.workflow.issues import Issue, Warning
from assent.workflow.machine.content import Content, ContentRefused, check_notes, read_content, split_notes
from assent.workflow.machine.history import Note, Recap, recap
from assent.workflow.machine.interpreter import (
    Advanced,
    Blocked,
    Complete,
    Decision,
    NeedsConfirmation,
    Outcome,
    Pending,
    advance,
    pending,
    start,
)
from assent.workflow.machine.state import Snapshot, step_key
from assent.workflow.program import Program, UnknownFormat, workflow_hash

__all__ = [
    "Advanced",
    "Blocked",
    "Compiled",
    "Complete",
    "Content",
    "ContentRefused",
    "Dashboard",
    "Decision",
    "Definition",
    "DefinitionRefused",
    "Issue",
    "NeedsConfirmation",
    "Note",
    "Outcome",
    "Pending",
    "Program",
    "Recap",
    "Snapshot",
    "UnknownFormat",
    "Warning",
    "advance",
    "check_notes",
    "compile_definition",
    "parse",
    "pending",
    "read_content",
    "recap",
    "reduce",
    "split_notes",
    "start",
    "step_key",
    "workflow_hash",
]
