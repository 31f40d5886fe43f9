"""Shared instructions that definitions name: reference texts, features and metrics footers.

An unknown name gives a warning and a visible marker in the prompt.
"""

from __future__ import annotations

from typing import Final

REFERENCES: Final[dict[str, str]] = {
    "wr.refs.notes_first_durability": "Write down what matters in the notes of this step: findings, decisions, what is "
    "uncertain, what comes next. Notes and context survive a rewound or lost chat; files and memory may not.",
    "wr.refs.parallelize_cognition_serialize_synthesis": "Independent looks at the same question may run side by side. "
    "Bringing them together is one person's work: yours. Read every result, weigh it, and decide once.",
    "wr.refs.adversarial_challenge_rules": "Try to break the current answer. Look for the strongest counter-example, "
    "the weakest evidence and the simplest other explanation, and report an attack that failed as plainly as one that "
    "succeeded.",
    "wr.refs.synthesis_under_disagreement": "Where results disagree, do not average them. State what each claims, "
    "which evidence decides, what you conclude, and what stays open.",
    "wr.refs.memory_usage": "If you have a memory tool, ask it for what is known about this work before you begin, and "
    "store what you decided and learned before you advance.",
    "wr.refs.memory_query": "If you have a memory tool, ask it for earlier decisions and facts about this work before "
    "you begin.",
    "wr.refs.memory_store": "If you have a memory tool, store the decisions and facts of this step before you advance.",
}

FEATURES: Final[dict[str, tuple[str, ...]]] = {
    "wr.features.capabilities": (
        "Find out which of your tools (delegation, web access, memory, running commands) really work before a step "
        "depends on one. If one is missing, do the work yourself and say so in the notes.",
    ),
    "wr.features.subagent_guidance": (
        "If you can hand work to helpers, give each one a bounded question and everything it needs to know; they do "
        "not see this chat. Check and combine what they return yourself; never pass it on unread.",
    ),
    "wr.features.memory_context": (REFERENCES["wr.refs.memory_usage"],),
    "wr.features.output_contracts": (
        "Where a step asks for structured output, send exactly the fields it names in `output`, and put prose in the "
        "notes.",
    ),
}

_OUTCOME: Final = "set `metrics_outcome` in `context` to success, partial, abandoned or error"
METRICS: Final[dict[str, str]] = {
    "coding": f"When you advance past this step, {_OUTCOME}, `metrics_commit_shas` to the list of commits made and "
    "`metrics_pr_numbers` to the pull requests opened.",
    "review": f"When you advance past this step, {_OUTCOME} and `metrics_pr_numbers` to the pull requests reviewed.",
    "research": f"When you advance past this step, {_OUTCOME}.",
    "design": f"When you advance past this step, {_OUTCOME}.",
    "ticket": f"When you advance past this step, {_OUTCOME}.",
}
