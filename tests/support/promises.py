"""Words that promise that something goes out: an answer or a page of a frozen server has none of them."""

from __future__ import annotations

import re

PROMISES = re.compile(
    r"goes out (?:on|in|at|then|now|once|later)|go out (?:after|at|now)\b|it goes out\b|goes out \d|can go out|"
    r"ready to go out|on (?:its|their) way|is (?:sent|run|executed|published) (?:now|at|automatically|once)|"
    r"being (?:sent|made) (?:now|right now)|(?:is|be) tried again (?:in|at)|may run it|runs it (?:once|now)|"
    r"it runs now|sends? it (?:now|at once|then)|(?:send|run|execute|publish) (?:now|at once)|"
    r"also (?:sends|runs) it|your agent (?:sends|runs)|server sends it|once you approve it there, it is done",
    re.IGNORECASE,
)
DENIALS = re.compile(r"\bnothing (?:goes out|is sent|is run|was sent)\b|before it goes out", re.IGNORECASE)
MARKUP = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.DOTALL)


def find_promises(text: str) -> list[str]:
    """The promises of a text or a page."""
    plain = DENIALS.sub("", " ".join(MARKUP.sub(" ", text).split()))
    return [plain[max(0, found.start() - 40) : found.end() + 30] for found in PROMISES.finditer(plain)]
