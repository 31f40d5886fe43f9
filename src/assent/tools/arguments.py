"""Arguments that many tools take, each described once."""

from __future__ import annotations

from typing import Annotated

import msgspec

from assent.kernel.limits import MAX_IDEMPOTENCY_KEY_CHARS, MAX_PAGE

ActionIdArgument = Annotated[
    str, msgspec.Meta(max_length=100, description="The action's id, exactly as a reply gave it.")
]

IdempotencyKey = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=MAX_IDEMPOTENCY_KEY_CHARS,
        description="The same key with the same arguments gives the same answer and no second effect. Use it on "
        "retries.",
    ),
]

RunIdArgument = Annotated[str, msgspec.Meta(max_length=100, description="The run's id.")]

Cursor = Annotated[str, msgspec.Meta(max_length=100, description="nextCursor of the page before.")]

PageSize = Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE, description="How many entries at most.")]

DigestArgument = Annotated[
    str,
    msgspec.Meta(
        max_length=100,
        description="The digest that was shown with the content (its first eight digits are enough). The decision is "
        "refused if the content has changed since.",
    ),
]
