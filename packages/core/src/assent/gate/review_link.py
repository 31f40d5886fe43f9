"""The signed review link of S0 §4: `/runs/{runId}?token=b64url(json).b64url(hmac-sha256)` (C24).

RUN_TOKEN_SECRET signs it and nothing else. The payload has exactly five keys. To revoke links, the
run's `links_from_ms` is moved forward.

A link has the rights of the API key it was made for, so that a page grants no more than the tools.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final, Literal

import msgspec

from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.structs import Arguments
from assent.kernel.tokens import KeyRing, TokenInvalid

Scope = Literal["review", "approve", "look"]

REVIEW: Final = "review"
"""May decide and send, as far as the policy allows that to a link."""
APPROVE: Final = "approve"
"""May decide but not send."""
LOOK: Final = "look"
"""May only view the run."""

DECIDE_RIGHT: Final = "actions:decide"
EXECUTE_RIGHT: Final = "actions:execute"


def scope_for(rights: AbstractSet[str]) -> Scope:
    """Return the scope of a link for a caller with these rights."""
    if DECIDE_RIGHT not in rights:
        return LOOK
    return REVIEW if EXECUTE_RIGHT in rights else APPROVE


class ReviewClaims(Arguments):
    """The five claims of a review token (E35); the keys are S0's."""

    run_id: RunId
    workspace_id: WorkspaceId
    iat: int
    exp: int
    scope: Scope


def make_token(
    ring: KeyRing,
    run_id: RunId,
    workspace_id: WorkspaceId,
    now_ms: int,
    ttl_seconds: int,
    scope: Scope = REVIEW,
) -> str:
    issued = now_ms // 1000
    claims = ReviewClaims(run_id, workspace_id, issued, issued + ttl_seconds, scope)
    return ring.sign(msgspec.json.encode(claims))


def read_token(ring: KeyRing, token: str, run_id: str, now_ms: int) -> ReviewClaims:
    """Return the claims of a valid token for this run (E38), unless expired (E39). Raises
    `TokenInvalid`."""
    try:
        claims = msgspec.json.decode(ring.verify(token), type=ReviewClaims)
    except msgspec.MsgspecError as error:
        raise TokenInvalid("the payload is not a review token") from error
    if claims.run_id != run_id:
        raise TokenInvalid("the token is for another run")
    if not claims.iat <= claims.exp:
        raise TokenInvalid("the token ends before it begins")
    if claims.exp * 1000 <= now_ms:
        raise TokenInvalid("the token has expired")
    return claims


def ends_early(claims: ReviewClaims, links_from_ms: int) -> bool:
    """Whether the link was revoked: the run accepts only links made at or after `links_from_ms`."""
    return claims.iat * 1000 < links_from_ms


def review_url(base_url: str, run_id: RunId, token: str) -> str:
    """The link that a person opens (E34)."""
    return f"{base_url}/runs/{run_id}?token={token}"
