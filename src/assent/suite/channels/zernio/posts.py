"""Builds Zernio's request for an approved action, and reads the outcome from the post that Zernio
returns. Pure.

A post goes to one or more accounts of one platform, each with its own outcome. Delivered posts
stay; the accounts that were not reached form the remainder. A post is ours if it carries our mark;
without a mark, only if an earlier attempt of ours may have made it.
"""

from __future__ import annotations

import uuid
from typing import Any, Final

import msgspec

from assent.net.http_outcomes import MAX_DETAIL_CHARS
from assent.platform.connections import Delivered, NotSent, Remainder
from assent.platform.effects import Action, Effect, ExecutionState
from assent.platform.values import MINUTE_MS, Reason, Record, parse_time

PLATFORMS: Final = {
    "linkedin": "linkedin",
    "x": "twitter",
    "threads": "threads",
    "instagram": "instagram",
    "facebook": "facebook",
    "bluesky": "bluesky",
    "tiktok": "tiktok",
    "reddit": "reddit",
}
"""Zernio's names of our channels."""

SIGN_IN_ENDED: Final = "auth_expired"
FINAL: Final = frozenset({"user_content", "user_abuse", "platform_rejected"})
"""Zernio's categories of refusals that no retry cures. The others are curable, also one that is not
known here."""

WAITING: Final = frozenset({"pending", "publishing", "scheduled", "draft", ""})
MARK: Final = "assentKey"
CLOCKS_APART_MS: Final = 2 * MINUTE_MS


class AccountPost(Record):
    account_id: str
    status: str
    url: str | None
    category: str
    message: str


def request_id(action: Action) -> str:
    """Return the idempotency key for Zernio: one per action and revision."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"assent:{action.provider_key}"))


def account_ids(effect: Effect) -> tuple[str, ...]:
    """Return the approved accounts, which are separated by commas."""
    return tuple(part for part in (effect.account_id or "").split(",") if part)


def request_body(action: Action, media: tuple[dict[str, str], ...]) -> dict[str, Any]:
    """Build the request. The same action and revision give the same request."""
    effect = action.effect
    thread = effect.details.get("thread")
    more = {"platformSpecificData": {"threadItems": [{"content": part} for part in thread]}} if thread else {}
    platform = PLATFORMS[effect.channel]
    body: dict[str, Any] = {
        "content": effect.body,
        "platforms": [
            {"platform": platform, "accountId": account, **more} for account in account_ids(effect)
        ],
        "publishNow": True,
        "metadata": {MARK: action.provider_key},
    }
    if effect.title:
        body["title"] = effect.title
    if media:
        body["mediaItems"] = list(media)
    return body


def read_parts(post: dict[str, Any], effect: Effect) -> tuple[AccountPost, ...]:
    """Return the outcomes on the effect's accounts that the post mentions."""
    wanted = account_ids(effect)
    raw = [each for each in post.get("platforms") or () if isinstance(each, dict)]
    if not raw:
        # A post that names no platforms has one outcome for all of them.
        raw = [{"accountId": each, "status": post.get("status")} for each in wanted]
    return tuple(part for part in map(_part, raw) if part.account_id in wanted)


def judge_post(post: dict[str, Any], action: Action) -> Delivered | NotSent | None:
    """Return the outcome of our post; None while it is unknown for our accounts."""
    parts = read_parts(post, action.effect)
    post_id = str(post.get("_id") or "")
    named = {part.account_id for part in parts}
    if not post_id or named != set(account_ids(action.effect)):
        return None
    out = [part for part in parts if part.status == "published"]
    failed = [part for part in parts if part.status == "failed"]
    if len(out) + len(failed) < len(parts):
        return None
    if not out:
        return read_refusal(failed[0])
    evidence = {"platforms": [msgspec.to_builtins(part) for part in parts]}
    rest = _rest(action.effect, out, failed) if failed else None
    return Delivered(post_id, next((part.url for part in out if part.url), None), evidence, rest)


def read_refusal(part: AccountPost) -> NotSent:
    """Return the platform's refusal. Zernio reports it, so nothing was published."""
    ended = part.category == SIGN_IN_ENDED
    reason = Reason.MISSING_CONNECTOR if ended else Reason.CONNECTOR_FAILED
    said = (part.message or part.category or "no reason given")[:MAX_DETAIL_CHARS]
    curable = part.category not in FINAL
    return NotSent(reason, f"the platform said: {said}", curable=curable, of_the_effect=True)


def is_ours(post: dict[str, Any], action: Action) -> bool:
    """Whether an existing post is the one that this action asked for."""
    metadata = post.get("metadata")
    if isinstance(metadata, dict) and MARK in metadata:
        return bool(metadata[MARK] == action.provider_key)
    attempt = action.attempt
    in_doubt = action.execution_state is ExecutionState.OUTCOME_UNKNOWN
    if attempt is None or not (in_doubt or attempt.fence > 1):
        return False
    made_ms = parse_time(str(post.get("createdAt") or ""))
    recent = made_ms is None or made_ms >= search_since_ms(action)
    same_text = post.get("content") is None or has_text(post, action.effect)
    return recent and same_text and bool(read_parts(post, action.effect))


def search_since_ms(action: Action) -> int:
    """Return the time before which no post is of this attempt, by Zernio's clock."""
    return action.attempt.started_ms - CLOCKS_APART_MS if action.attempt is not None else 0


def has_text(post: dict[str, Any], effect: Effect) -> bool:
    """Whether a post has the approved text, spacing aside."""
    content = post.get("content")
    return isinstance(content, str) and content.split() == effect.body.split()


def _rest(effect: Effect, out: list[AccountPost], failed: list[AccountPost]) -> Remainder:
    named = _names(effect)
    left = [part.account_id for part in failed]
    target = {
        **(effect.target or {}),
        "accountId": ",".join(left),
        "name": ", ".join(named[each] for each in left),
    }
    reached = ", ".join(named[part.account_id] for part in out)
    why = "; ".join(f"{named[part.account_id]}: {part.message or part.category}" for part in failed)
    return Remainder(msgspec.structs.replace(effect, target=target), reached, why[:MAX_DETAIL_CHARS])


def _names(effect: Effect) -> dict[str, str]:
    ids = account_ids(effect)
    names = (effect.target or {}).get("name", "").split(", ")
    return dict(zip(ids, names if len(names) == len(ids) else ids, strict=True))


def _part(raw: dict[str, Any]) -> AccountPost:
    account = raw.get("accountId")
    # Where Zernio expands references, the account object is in place of its id.
    account_id = account.get("_id") if isinstance(account, dict) else account
    status = str(raw.get("status") or "")
    url = raw.get("platformPostUrl")
    return AccountPost(
        str(account_id or ""),
        "" if status in WAITING else status,
        url if isinstance(url, str) and url.startswith(("https://", "http://")) else None,
        str(raw.get("errorCategory") or ""),
        str(raw.get("errorMessage") or ""),
    )
