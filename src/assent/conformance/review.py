"""Checks of the review link: who may use it, what invalidates it, and that a GET changes
nothing."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from assent.conformance.checking import Scene, check, expect
from assent.conformance.endpoint import NO_SUCH_ACTION
from assent.conformance.gate import expect_waiting


def token_of(run: dict[str, Any]) -> str:
    return parse_qs(urlsplit(str(run["reviewUrl"])).query)["token"][0]


def decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


@check("E35", "E37", "the token names run, workspace, times and scope, and is signed by 256 bits")
async def token_shape(scene: Scene) -> None:
    run = await scene.prepared()
    body, _, signature = token_of(run).partition(".")
    claims = msgspec.json.decode(decode(body))
    expect(claims.get("runId") == run["runId"], "the token is for this run")
    expect(claims.get("workspaceId") == run["workspaceId"], "and this workspace")
    expect(claims.get("scope") == "review", "its scope is review", claims.get("scope"))
    expect(claims["exp"] > claims["iat"], "it ends after it began")
    size = len(decode(signature))
    expect(size == 32, "its signature has 32 bytes", size)


@check("E38", "E41", "E71", "a token that is altered, or of another run, answers 403", needs=("key", "http"))
async def bad_tokens(scene: Scene) -> None:
    run, other = await scene.prepared(), await scene.prepare()
    token = token_of(run)
    body, _, signature = token.partition(".")
    flipped = ("B" if signature[0] == "A" else "A") + signature[1:]
    for what, path in {
        "an altered signature": f"/runs/{run['runId']}?token={body}.{flipped}",
        "a token of another run": f"/runs/{other['runId']}?token={token}",
        "a token for a run that is not there": f"/runs/{NO_SUCH_ACTION}?token={token}",
        "something that is no token": f"/runs/{run['runId']}?token=anything",
    }.items():
        response = await scene.nobody.get(path)
        expect(response.status_code == 403, f"{what} answers 403", response.status_code)


@check(
    "E21", "the link opens, without it there is no page, and looking decides nothing", needs=("key", "http")
)
async def looking(scene: Scene) -> None:
    run = await scene.prepared()
    response = await scene.nobody.get(f"/runs/{run['runId']}?token={token_of(run)}")
    expect(response.status_code in (200, 302, 303, 307), "the link opens", response.status_code)
    bare = await scene.nobody.get(f"/runs/{run['runId']}")
    expect(bare.status_code in (401, 403), "without a token there is no page", bare.status_code)
    await expect_waiting(scene.server, run["actions"][0]["id"])
