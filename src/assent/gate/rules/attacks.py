"""What an agent that follows injected instructions can approve, by what it holds.

`docs/assurance.md` is made from this table, and a test plays every cell of it against a server.
"""

from __future__ import annotations

from typing import Final

from assent.gate.policy import RANK
from assent.gate.records import Assurance
from assent.kernel.structs import Record


class Attack(Record):
    """Something that an agent may hold, and the highest assurance that it can reach with it."""

    name: str
    holds: str
    reaches: Assurance | None
    why: str


ATTACKS: Final = (
    Attack(
        "server_address",
        "the address of the server and nothing else",
        None,
        "Where sign-up is open it gets an empty workspace of its own, and reaches nothing in yours.",
    ),
    Attack(
        "drafts_key",
        "a key that only prepares (`--scope runs:write`)",
        None,
        "Its calls and its links cannot decide.",
    ),
    Attack("full_key", "a key with every scope", Assurance.AGENT, "It says that its user agreed."),
    Attack("link", "the review link of the action", Assurance.LINK, "It opens the link as a person would."),
    Attack(
        "claimed_signup",
        "the page of a sign-up that it claimed itself",
        Assurance.LINK,
        "Only in that workspace: its session is a link until a mail, a terminal or an invitation confirms it.",
    ),
    Attack(
        "accepting_client",
        "a client whose dialogs it answers itself",
        Assurance.CLIENT,
        "The server sees an accepted dialog, not who pressed the button.",
    ),
    Attack(
        "stolen_cookie",
        "the session cookie of a signed-in person, on plain http (also of a page on another port)",
        Assurance.CLIENT,
        "Cookies ignore ports. The key that confirms stays in the browser and belongs to the origin.",
    ),
    Attack(
        "stolen_cookie_https",
        "that cookie, of a server with https and a host name of its own",
        Assurance.PERSON,
        "There the cookie counts as the person. Ask for `passkey` if cookies may leak.",
    ),
    Attack(
        "own_server",
        "a server that it started itself, with its own secrets",
        None,
        "Links, cookies and approvals of another server have other keys.",
    ),
    Attack(
        "other_user",
        "a shell under another user of the machine",
        None,
        "The data directory is closed to other users.",
    ),
)
"""Without the shell of the server's own user, which can do what the server can."""

LEVELS: Final = (Assurance.AGENT, Assurance.CLIENT, Assurance.PERSON, Assurance.PASSKEY)
"""The assurances that a policy can ask for; `link` is as `agent`."""


def can_approve(attack: Attack, needed: Assurance) -> bool:
    """Whether the attack approves an action for which the policy asks for this assurance."""
    return attack.reaches is not None and RANK[attack.reaches] >= RANK[needed]
