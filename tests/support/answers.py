"""What an answer tells an agent: the text for its user, and the calls that may follow."""

from __future__ import annotations

from typing import Any


def bodies_of(answer: dict[str, Any]) -> dict[str, str]:
    """The texts to show, by the name of the action or channel."""
    shown = (answer.get("agentGuide") or {}).get("renderInChat") or {}
    return {name: each["body"] for name, each in shown.items()}


def message_of(answer: dict[str, Any]) -> str:
    said: str = answer.get("userMessage") or (answer.get("agentGuide") or {}).get("userMessage") or ""
    return said


def text_of(answer: dict[str, Any]) -> str:
    """Everything that the user is shown or told."""
    return "\n\n".join([message_of(answer), *bodies_of(answer).values()])


def calls_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The suggested calls, the most likely one first."""
    following = (answer.get("agentGuide") or {}).get("nextToolCalls") or {}
    first = [following[place] for place in ("primary", "fallback") if place in following]
    return [*first, *following.get("more", ())]


def call_for(answer: dict[str, Any], tool: str) -> dict[str, Any]:
    """The first suggested call of a tool."""
    return next(each for each in calls_of(answer) if each["name"] == tool)


def draft_of(run: dict[str, Any], channel: str) -> str:
    """The title and the text that a run has for a channel."""
    found = next(asset for asset in run["assets"] if asset["type"] == channel)
    return f"{found['title']}\n{found['body']}"
