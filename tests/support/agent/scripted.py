"""An agent that reads answers and knows no tool by its name.

Its rules are those of the instructions: show what an answer shows, do what the person says by the call that stands
for it, take the next call that is complete or whose `needs` the person can fill, and after a refusal do what `retry`
says. It never makes the same call twice unless a person acted or time passed in between.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.support.answers import calls_of, text_of

MOST_CALLS = 25
SAID = re.compile(r"the user said “([^”]+)”")
FIRST = re.compile(r"([a-z_]+) at the start of a conversation")


class Person(Protocol):
    """Who the agent works for."""

    async def read(self, shown: str) -> bool:
        """Look at what is shown, and open a link in it where it asks for that. Whether they did something."""

    def say(self, words: list[str]) -> str | None:
        """One of the things that can be said now."""

    def answer(self, wanted: dict[str, str]) -> dict[str, Any] | None:
        """What an answer needs, or None for something they cannot or do not want to give."""


class StuckError(AssertionError):
    """The answers lead nowhere."""


@dataclass
class Agent:
    call: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
    person: Person
    pass_time: Callable[[float], None]
    made: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    async def work(self, instructions: str) -> dict[str, Any]:
        """From the first call of the instructions to an answer that says that it is out."""
        first = FIRST.search(instructions)
        if first is None:
            raise StuckError("the instructions name no first call")
        answer = await self._make(first[1], {})
        while not _is_out(answer):
            answer = await (self._go_on(answer) if answer["ok"] else self._recover(answer))
        return answer

    async def stage(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """One wish as the person said it, until something is staged."""
        answer = await self._make(name, args)
        while not answer["ok"]:
            answer = await self._recover(answer)
        return answer

    async def _go_on(self, answer: dict[str, Any]) -> dict[str, Any]:
        acted = await self._show(answer)
        if (wanted := self._hear(answer)) is not None:
            return await self._make(wanted["name"], self._whole(wanted), again=acted)
        return await self._follow(answer, acted)

    def _hear(self, answer: dict[str, Any]) -> dict[str, Any] | None:
        """The call that stands for what the person says."""
        said = self.person.say(list(_commands(answer)))
        return _commands(answer)[said] if said is not None else None

    async def _follow(self, answer: dict[str, Any], acted: bool) -> dict[str, Any]:
        """The first call that can be made whole and that was not just made."""
        for suggested in _suggested(answer):
            args = self._filled(suggested)
            if args is not None and (acted or (suggested["name"], args) not in self.made):
                return await self._make(suggested["name"], args, again=acted)
        raise StuckError(f"nothing to do after {self.made[-1]}: {answer}")

    async def _recover(self, refusal: dict[str, Any]) -> dict[str, Any]:
        acted = await self._show(refusal)
        refused = self.made[-1]
        match refusal["retry"]:
            case "same":
                self.pass_time(refusal["retryAfterSeconds"])
                return await self._make(*refused, again=True)
            case "after_recovery":
                tool = refusal["recoveryTool"]
                helped = await self._make(tool["name"], self._whole(tool), again=acted)
                if not helped["ok"]:
                    raise StuckError(f"the recovery was refused: {helped}")
                if await self._show(helped) or helped.get("connected"):
                    return await self._make(*refused, again=True)
                return await self._follow(helped, acted)
            case "changed" if refusal.get("recoveryTool"):
                tool = refusal["recoveryTool"]
                return await self._make(tool["name"], self._whole(tool))
            case "never":
                if (wanted := self._hear(refusal)) is not None:
                    return await self._make(wanted["name"], self._whole(wanted))
                return await self._follow(refusal, acted)
            case other:
                raise StuckError(f"a call that was made as it was given must be {other}: {refusal}")

    async def _show(self, answer: dict[str, Any]) -> bool:
        text = text_of(answer)
        if "reviewUrl" in (answer.get("stopRule") or "") + answer.get("fixActionForAgent", ""):
            text = f"{text}\n\n{answer['reviewUrl']}"
        self.shown.append(text)
        return await self.person.read(text)

    async def _make(self, name: str, args: dict[str, Any], *, again: bool = False) -> dict[str, Any]:
        if len(self.made) >= MOST_CALLS or (not again and self.made and self.made[-1] == (name, args)):
            raise StuckError(f"a loop: {self.made}")
        self.made.append((name, args))
        answer = await self.call(name, args)
        self.answers.append(answer)
        return answer

    def _filled(self, call: dict[str, Any]) -> dict[str, Any] | None:
        needs = call.get("needs", {})
        given = self.person.answer(needs) if needs else {}
        return None if given is None else {**call["args"], **given}

    def _whole(self, call: dict[str, Any]) -> dict[str, Any]:
        args = self._filled(call)
        if args is None:
            raise StuckError(f"the person cannot say {call['needs']}")
        return args


def _is_out(answer: dict[str, Any]) -> bool:
    return bool(answer["ok"]) and answer.get("status") == "executed"


def _commands(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The calls that stand for words of the person, by these words."""
    said = ((SAID.search(each["when"]), each) for each in calls_of(answer))
    return {found.group(1): each for found, each in said if found is not None}


def _suggested(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The calls that are no decision: those are the person's, and are made when they say so."""
    decisions = {each["name"] for each in _commands(answer).values()}
    yield from (each for each in calls_of(answer) if each["name"] not in decisions)
