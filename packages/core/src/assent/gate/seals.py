"""The seal of an approval: a MAC that distinguishes this server's approvals from rows written into
its database.

The key is derived from the master secret. The MAC covers the approval and the identity of its
action. The newest secret seals; every known one verifies. `assent.gate.gate` judges policies and
states.
"""

from __future__ import annotations

import hmac
from typing import Final

import msgspec

from assent.gate.policy import Policy, digest_policy
from assent.gate.records import Action, Approval
from assent.kernel import canonical, tokens
from assent.kernel.structs import Record

PURPOSE: Final = "approval"


class Seals(Record):
    """The keys of the approvals, newest first."""

    keys: tuple[bytes, ...]

    @classmethod
    def of(cls, secrets: tuple[bytes, ...]) -> Seals:
        return cls(tuple(tokens.derive_key(secret, PURPOSE) for secret in secrets))

    def seal(self, action: Action, approval: Approval, policy: Policy | None = None) -> Action:
        """Return the action with this sealed approval and the digest of its policy."""
        if policy is not None:
            approval = msgspec.structs.replace(approval, policy=digest_policy(policy))
        mac = tokens.encode(hmac.digest(self.keys[0], _cover(action, approval), "sha256"))
        return msgspec.structs.replace(action, approval=msgspec.structs.replace(approval, mac=mac))

    def hold(self, action: Action) -> bool:
        """Whether the stored approval has a valid seal for exactly this action."""
        return any(self._matches(action, key) for key in self.keys)

    def is_newest(self, action: Action) -> bool:
        return self._matches(action, self.keys[0])

    def _matches(self, action: Action, key: bytes) -> bool:
        approval = action.approval
        if approval is None:
            return False
        mac = tokens.encode(hmac.digest(key, _cover(action, approval), "sha256"))
        return hmac.compare_digest(mac.encode(), approval.mac.encode())


def _cover(action: Action, approval: Approval) -> bytes:
    about = (action.workspace_id, action.action_id, action.revision, action.digest, action.schedule_ms)
    said = msgspec.to_builtins(msgspec.structs.replace(approval, mac=""))
    return canonical.canonical([*about, said])
