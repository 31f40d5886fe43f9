"""An OpenID provider for tests, as a program: `oidc-provider-mock` (Authlib), with PKCE enforced.

Tests change its answers by `PUT /tampering`: other claims, another key, no signature, other metadata.
The first line of its output is its address. It ends with its standard input.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
import warnings
from typing import Any
from urllib.parse import parse_qs, urlsplit

warnings.simplefilter("ignore")

import flask  # noqa: E402
import jwt  # noqa: E402
import oidc_provider_mock  # noqa: E402
import werkzeug.serving  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: E402

from assent.kernel import tokens  # noqa: E402

app: flask.Flask = oidc_provider_mock.app(require_nonce=True)
challenges: dict[str, str] = {}
tampering: dict[str, Any] = {}
asked: list[str] = []


@app.put("/tampering")
def tamper() -> flask.typing.ResponseReturnValue:
    tampering.clear()
    tampering.update(flask.request.get_json())
    asked.clear()
    return "", 204


@app.get("/asked")
def list_requests() -> flask.typing.ResponseReturnValue:
    return flask.jsonify(asked)


@app.before_request
def enforce_pkce() -> flask.typing.ResponseReturnValue | None:
    asked.append(flask.request.path)
    if flask.request.path in tampering.get("down", []):
        return "", 500
    if flask.request.path == "/oauth2/token":
        challenge = challenges.pop(flask.request.form.get("code", ""), None)
        verifier = flask.request.form.get("code_verifier", "")
        if challenge is None or challenge != tokens.encode(hashlib.sha256(verifier.encode()).digest()):
            return flask.jsonify({"error": "invalid_grant"}), 400
    return None


@app.after_request
def change_answers(response: flask.Response) -> flask.Response:
    path = flask.request.path
    if path == "/oauth2/authorize" and "location" in response.headers:
        given = parse_qs(urlsplit(response.headers["location"]).query)
        if "code" in given and flask.request.args.get("code_challenge_method") == "S256":
            challenges[given["code"][0]] = flask.request.args["code_challenge"]
        response.headers["location"] += tampering.get("append", "")
    if path == "/.well-known/openid-configuration":
        response.set_data(json.dumps({**response.get_json(), **tampering.get("metadata", {})}))
    if path == "/oauth2/token" and response.status_code == 200 and "token" in tampering:
        response.set_data(
            json.dumps({**response.get_json(), "id_token": forge(response.get_json()["id_token"])})
        )
    return response


def forge(token: str) -> str:
    """The ID token, with what the test wants to be different."""
    wanted = tampering["token"]
    own = flask.g.oidc_provider_mock_storage.jwk.as_dict(is_private=True)
    claims = jwt.decode(token, options={"verify_signature": False})
    claims |= wanted.get("claims", {})
    claims = {name: value for name, value in claims.items() if name not in wanted.get("without", ())}
    if "age" in wanted:
        claims["iat"], claims["exp"] = int(time.time()) - wanted["age"] - 60, int(time.time()) - wanted["age"]
    header = {"kid": own["kid"]} if "kid" in own else {}
    match wanted.get("signed_by"):
        case "nobody":
            return jwt.encode(claims, "", algorithm="none", headers=header)
        case "client id":
            return jwt.encode(claims, "assent" * 8, algorithm="HS256", headers=header)
        case "somebody":
            other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            return jwt.encode(claims, other, algorithm="RS256", headers=header)
    return jwt.encode(claims, jwt.PyJWK(own, "RS256").key, algorithm="RS256", headers=header)


def main() -> None:
    server = werkzeug.serving.make_server("localhost", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"http://localhost:{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
