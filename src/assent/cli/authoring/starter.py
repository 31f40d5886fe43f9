"""The two files of `assent workflow new`: a small definition with its fields explained, and answers."""

from __future__ import annotations

from typing import Final

DEFINITION: Final = """\
# yaml-language-server: $schema=@SCHEMA@
# Check it: assent workflow validate @ID@.yaml
# Walk it:  assent workflow test @ID@.yaml

id: "@ID@" # agents start it by this name; lower-case letters, digits, - and _
name: "@NAME@" # for people
version: 1.0.0
description: Collect the changes, agree on them, and report. # agents choose a workflow by this sentence

# Rules for the whole run, shown at its start.
metaGuidance:
  - Only state what you have seen.

steps:
  # The agent answers a step with notes (notesMarkdown), values to keep (context), or an output.
  - id: collect
    title: Collect the changes
    prompt: List what changed. Set `changes` in context, a list of short texts.
    notesOptional: false # without notes the step does not pass

  # A loop runs its body for each entry of a list in the context.
  - id: each-change
    type: loop
    title: Look at each change
    loop:
      type: forEach
      items: changes
      itemVar: change
      maxIterations: 20 # every loop needs a maximum
    body:
      - id: check-change
        title: Check one change
        prompt: "Read this change and say what it can break: {{change}}"
        # The output that passes. The agent sees the fields and the example.
        outputContract:
          kind: "@ID@.finding"
          schema:
            type: object
            required: [kind, risk]
            properties:
              kind: { const: "@ID@.finding" }
              risk: { enum: [low, high] }
          example: { kind: "@ID@.finding", risk: low }

  # A person confirms this step before the run goes on; the server enforces it.
  - id: agree
    title: Agree on the changes
    prompt: Show the user the findings, and propose what to do.
    requireConfirmation: true
    onReject: continue # or stay, the default: the step is tried again

  # A step is skipped unless its condition holds.
  - id: report
    title: Write the report
    prompt: Write the report in three sentences.
    runCondition: { var: wr.decisions.agree.decision, equals: approved }
"""

ANSWERS: Final = """\
# Answers for: assent workflow test @ID@.yaml
# context: values at the start. steps: the answers by step id. A list answers a step once per entry; a single answer
# serves every time it is asked. decision is what the person says: approved or rejected, with a reason if you like.
steps:
  collect:
    notesMarkdown: Two changes since the last release.
    context: { changes: [a new import, a faster search] }
  check-change:
    - output: { kind: "@ID@.finding", risk: high }
    - output: { kind: "@ID@.finding", risk: low }
  agree:
    notesMarkdown: One risk, which we accept.
    decision: approved
  report:
    notesMarkdown: Done.
"""


def fill(template: str, workflow_id: str, schema_url: str) -> str:
    """Return a template with its names."""
    name = workflow_id.replace("-", " ").replace("_", " ").replace(".", " ").strip().capitalize()
    for mark, text in (("@ID@", workflow_id), ("@NAME@", name or workflow_id), ("@SCHEMA@", schema_url)):
        template = template.replace(mark, text)
    return template
