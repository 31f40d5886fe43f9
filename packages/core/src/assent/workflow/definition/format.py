"""The definition format as shapes: the fields, their allowed values, and advice.

It is the published format of the libraries that must run here unchanged, with four extensions:
loops inside loops, three text operators in conditions, an output contract inside the step, and a
step with an operator's tool (`action`) and what a rejection does (`onReject`). Conditions,
validation rules, loops and bodies are checked elsewhere.
"""

from __future__ import annotations

from typing import Any, Final

from assent.kernel.limits import MAX_LOOP_ITERATIONS
from assent.kernel.shapes import Shape
from assent.workflow.program import PLAN

ID_HINT: Final = (
    "Use lower-case letters, digits, - and _, with at most one dot: my-workflow or team.my-workflow."
)
PROSE: Final = 65_536
"""Characters of one text. The published format has lower limits, which files in use exceed."""
LINE: Final = 8_192
"""Characters of a list entry or a sentence."""
STEP_ID_HINT: Final = "Use 3 to 64 lower-case letters, digits and -, such as phase-1-plan."
NAME: Final = "^[a-zA-Z_][a-zA-Z0-9_]*$"


def text(least: int = 0, most: int | None = None, **more: Any) -> Shape:
    """Return the shape of a text of bounded length."""
    return {"type": "string", "minLength": least, **({"maxLength": most} if most else {}), **more}


def listing(items: Shape, **more: Any) -> Shape:
    """Return the shape of a list."""
    return {"type": "array", "items": items, "uniqueItems": False, **more}


def distinct(items: Shape, **more: Any) -> Shape:
    """Return the shape of a list without duplicates."""
    return {**listing(items, **more), "uniqueItems": True}


def record(needed: str, /, **properties: Any) -> Shape:
    """Return the shape of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": {name.rstrip("_"): shape for name, shape in properties.items()},
        "required": needed.split(),
        "additionalProperties": False,
    }


ANY: Final[Shape] = {}
BOOLEAN: Final[Shape] = {"type": "boolean"}
OBJECT: Final[Shape] = {"type": "object"}
TEXTS: Final[Shape] = {"type": "object", "additionalProperties": text()}
TIER: Final[Shape] = {"enum": ["lightweight", "mid", "heavy"]}
STEP_ID: Final = text(3, 64, pattern="^[a-z0-9-]+$", hint=STEP_ID_HINT)
PARAMETER: Final = record(
    "name type",
    name=text(1, 64, pattern=NAME),
    type={"enum": ["string", "number", "boolean", "array", "object"]},
    required=BOOLEAN,
    description=text(),
    enum={"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}},
    default=ANY,
)
FUNCTION: Final = record(
    "name definition",
    name=text(1, 128, pattern=NAME, hint="A function name has letters, digits and _."),
    definition=text(),
    parameters=listing(PARAMETER),
    scope={"enum": ["workflow", "loop", "step"]},
)
PROMPT_PART: Final[Shape] = {
    "anyOf": [
        record("kind text", kind={"const": "text"}, text=text()),
        record("kind refId", kind={"const": "ref"}, refId=text(1)),
    ]
}
PROMPT_VALUE: Final[Shape] = {
    "type": ["string", "array"],
    "items": PROMPT_PART,
    "hint": 'A prompt value is a text or a list of {"kind": "text", "text": …} and {"kind": "ref", "refId": …}.',
}
PROMPT_BLOCKS: Final = record(
    "",
    goal=PROMPT_VALUE,
    constraints=listing(PROMPT_VALUE),
    procedure=listing(PROMPT_VALUE),
    outputRequired=TEXTS,
    verify=listing(PROMPT_VALUE),
)
FRAGMENT: Final = record(
    "id text", id=text(1, 64, pattern="^[a-z][a-z0-9_-]*$"), when=OBJECT, text=text(1, PROSE)
)
OUTPUT_CONTRACT: Final = {
    **record(
        "", contractRef=text(1, 128), required=BOOLEAN, kind=text(1, 128), schema=OBJECT, example=OBJECT
    ),
    "hint": 'Name a contract ("contractRef"), or write one: "kind", "schema" and "example".',
}
LEVEL: Final = text(1, 64)
DIMENSION: Final = record(
    "id purpose levels",
    id=text(1, 64),
    purpose=text(1, LINE),
    levels=distinct(LEVEL, minItems=2),
    required=BOOLEAN,
)
ASSESSMENT: Final = record(
    "id purpose dimensions",
    id=text(1, 64),
    purpose=text(1, LINE),
    dimensions=listing(DIMENSION, minItems=1, maxItems=50),
)
CONSEQUENCE: Final = record(
    "when effect",
    when=record("anyEqualsLevel", anyEqualsLevel=LEVEL, forAssessment=text(1, 128)),
    effect=record("kind guidance", kind={"const": "require_followup"}, guidance=text(1, LINE)),
)
SYNTHESIS: Final = record("", prompt=text(1, PROSE), outputContract=OUTPUT_CONTRACT)
ACTION: Final = record(
    "tool",
    tool=text(
        1, 128, pattern="^[a-zA-Z][a-zA-Z0-9_.-]*$", hint="Name a tool, such as chieflab_launch_product."
    ),
    args=OBJECT,
)
DELEGATION: Final = record(
    "workflowId",
    workflowId=text(1, 128),
    goal=text(),
    runCondition=OBJECT,
    contextMapping=TEXTS,
    args=TEXTS,
    modelTier=TIER,
    allowedTools=listing(text(1, 128, pattern=r"^[a-zA-Z][a-zA-Z0-9_:\-]*$"), minItems=1),
)
AUDIT: Final = record("", prompt=text(1, PROSE), rubric=listing(text(), minItems=1), delegate=DELEGATION)
VERIFICATION: Final = record(
    "", command=text(1, LINE), prompt=text(1, PROSE), cognitive=BOOLEAN, delegate=DELEGATION
)
CONFIRMATION_KINDS: Final = ("coordinator_eval", "human_approval", PLAN)
CONFIRMATION: Final[Shape] = {
    "type": ["boolean", "object"],
    "hint": 'Write true, false, a condition, or {"kind": "human_approval", "condition": …}; the kind plan asks for '
    "each action of a run.",
}
SHARED: Final[dict[str, Shape]] = {
    "id": STEP_ID,
    "title": text(1, 512),
    "requireConfirmation": CONFIRMATION,
    "confirmationPrompt": text(1, LINE),
    "runCondition": OBJECT,
    "notesOptional": BOOLEAN,
    "onReject": {"enum": ["stay", "continue"]},
}
STANDARD: Final = record(
    "id title",
    **SHARED,
    type={"const": "step"},
    prompt=text(1, PROSE),
    promptBlocks=PROMPT_BLOCKS,
    agentRole=text(1, LINE),
    modelTier=TIER,
    guidance=listing(text()),
    askForFiles=BOOLEAN,
    hasValidation=BOOLEAN,
    validationCriteria={"type": ["array", "object"]},
    outputContract=OUTPUT_CONTRACT,
    assessmentRefs=distinct(text(1, 64), minItems=1),
    assessmentConsequences=listing(CONSEQUENCE, minItems=1, maxItems=50),
    functionDefinitions=listing(FUNCTION),
    functionCalls=listing(record("name args", name=text(1, 128, pattern=NAME), args=OBJECT)),
    functionReferences=listing(
        text(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*\(\)$", hint="Write the name with brackets: name()."),
    ),
    templateCall=record("templateId", templateId=text(1, 128), args=OBJECT),
    promptFragments=listing(FRAGMENT, minItems=1),
    audit=AUDIT,
    verification=VERIFICATION,
    action=ACTION,
)
ITERATIONS: Final[Shape] = {"type": "integer", "minimum": 1, "maximum": MAX_LOOP_ITERATIONS,
                            "hint": "Every loop needs a maximum number of iterations."}  # fmt: skip
VARIABLE: Final = text(1, 64, pattern=NAME, hint="A variable name has letters, digits and _.")
LOOP_CONFIG: Final = record(
    "type maxIterations",
    type={"enum": ["while", "until", "for", "forEach"]},
    condition=OBJECT,
    items=text(1, 128, hint="Name the context variable that holds the list."),
    count={"type": ["integer", "string"], "minimum": 0, "maximum": MAX_LOOP_ITERATIONS, "minLength": 1},
    maxIterations=ITERATIONS,
    iterationVar=VARIABLE,
    itemVar=VARIABLE,
    indexVar=VARIABLE,
    conditionSource={
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": ["artifact_contract", "context_variable"]}},
    },
)
LOOP_NEEDS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    **{
        kind: (
            ("condition", "conditionSource"),
            f'Loops of type "{kind}" need "condition" or "conditionSource".',
        )
        for kind in ("while", "until")
    },
    "for": (("count",), 'A for loop needs "count": a number or the name of a variable.'),
    "forEach": (("items",), 'A forEach loop needs "items": the name of a variable with a list.'),
}
"""By type of a loop: the fields of which it needs one, and the advice."""
CONDITION_SOURCES: Final[dict[str, Shape]] = {
    "artifact_contract": record(
        "kind contractRef", kind=text(), contractRef=text(1, 128), loopId=text(1, 64)
    ),
    "context_variable": record("kind condition", kind=text(), condition=OBJECT),
}
LOOP: Final = record(
    "id type title loop body",
    **SHARED,
    type={"const": "loop"},
    loop=LOOP_CONFIG,
    body={"type": ["string", "array"], "minLength": 1, "minItems": 1},
    guidance=listing(text()),
    functionDefinitions=listing(FUNCTION),
)
PARALLEL: Final = record(
    "id type title parallelDelegations",
    **SHARED,
    type={"const": "parallel"},
    parallelDelegations=distinct(DELEGATION, minItems=1, maxItems=100),
    synthesis=SYNTHESIS,
)
STEP_SHAPES: Final[dict[str, Shape]] = {"step": STANDARD, "loop": LOOP, "parallel": PARALLEL}

VERSION: Final = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$"
WORKFLOW: Final = record(
    "id name description version steps",
    **{"$schema": text()},
    id=text(3, 64, pattern=r"^([a-z0-9_-]+|[a-z][a-z0-9_-]+\.[a-z][a-z0-9_-]+)$", hint=ID_HINT),
    name=text(1, 512),
    description=text(1, LINE),
    version=text(5, 64, pattern=VERSION, hint="Write three numbers, such as 1.0.0."),
    modelTier=TIER,
    preconditions=distinct(text(1, LINE)),
    clarificationPrompts=distinct(text(1, LINE)),
    steps={
        "type": "array",
        "minItems": 1,
        "hint": "A workflow has at least one step with an id, a title and a prompt.",
    },
    metaGuidance=distinct(text(1, LINE)),
    functionDefinitions=distinct(FUNCTION),
    recommendedPreferences=record(
        "",
        recommendedAutonomy={"enum": ["guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"]},
        recommendedRiskPolicy={"enum": ["conservative", "balanced", "aggressive"]},
    ),
    features=distinct(text(1, 128)),
    assessments=distinct(ASSESSMENT),
    extensionPoints=distinct(
        record(
            "slotId purpose default",
            slotId=text(2, 64, pattern="^[a-z][a-z0-9_]*$"),
            purpose=text(1, LINE),
            default=text(1, 128),
            acceptedKinds=distinct({"enum": ["routine", "workflow"]}),
        )
    ),
    references=distinct(
        record(
            "id title source purpose authoritative",
            id=text(2, 64, pattern="^[a-z][a-z0-9_-]*$"),
            title=text(1, 512),
            source=text(1, 512),
            purpose=text(1, LINE),
            authoritative=BOOLEAN,
            resolveFrom={"enum": ["workspace", "package"]},
        )
    ),
    validatedAgainstSpecVersion={"type": "integer", "minimum": 1},
    about=text(1, PROSE),
    examples=distinct(text(1, LINE), maxItems=50),
    metricsProfile={"enum": ["coding", "review", "research", "design", "ticket", "none"]},
)
