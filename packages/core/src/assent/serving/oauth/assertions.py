"""The signature of a client that publishes its keys (RFC 7523, `private_key_jwt`): its token requests need one.

PyJWT verifies it, with asymmetric algorithms alone; times are compared with an argument.
"""

from __future__ import annotations

from typing import Any, Final

from assent.kernel.limits import MINUTE_MS, SECOND_MS
from assent.net.oidc import SIGNING_KEYS, match_keys
from assent.serving.oauth.grammar import BadRequest

TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ALGORITHMS: Final = tuple(SIGNING_KEYS)
LONGEST_MS: Final = 10 * MINUTE_MS


def read_assertion(
    form: dict[str, str], keys: list[Any], client_id: str, audiences: list[str], now_ms: int
) -> tuple[str, int]:
    """Return the nonce of a signature by one of the keys, to be used up, and its end. Raises `BadRequest`."""
    import jwt

    token = form.get("client_assertion", "") if form.get("client_assertion_type") == TYPE else ""
    options: Any = {f"verify_{claim}": False for claim in ("exp", "iat", "nbf")}
    options["require"] = ["iss", "sub", "aud", "exp", "jti"]
    for key, algorithm in match_keys(token, keys):
        try:
            claims = jwt.decode(
                token,
                jwt.PyJWK(key, algorithm),
                algorithms=[algorithm],
                audience=audiences,
                issuer=client_id,
                options=options,
            )
            ends_ms = int(claims["exp"]) * SECOND_MS
        except (jwt.PyJWTError, TypeError, ValueError, OverflowError):
            continue
        if claims["sub"] == client_id and now_ms < ends_ms <= now_ms + LONGEST_MS:
            return f"client {client_id} {claims['jti']}", ends_ms
    raise BadRequest("invalid_client", "The request is not signed with a key that the client publishes.", 401)
