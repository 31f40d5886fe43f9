"""What an agent's user may be able to do to the server, and the assurance that is left to claim then. Pure.

`assent boundary` tries each of these as that user. If one with a cap works, the agent can approve as any
person: it can mint a sign-in link, seal an approval with the server's secret, or write it into the store. The
server cannot tell such an approval from a person's.

The attacks are what an agent that follows injected instructions can approve, by what it holds. `docs/assurance.md`
is made from these tables, and a test plays every cell against a server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assent.gate.policy import RANK
from assent.gate.records import Assurance
from assent.kernel.structs import Record


class Probe(Record):
    """One thing that is tried as the agent's user."""

    name: str
    does: str
    """What the agent would do, for the table."""
    cap: Assurance | None
    """The most that the server claims where it works; None if it decides nothing."""
    consequence: str


PROBES: Final = (
    Probe(
        "read_secrets", "read the secrets of the server", Assurance.AGENT, "It can sign links and approvals."
    ),
    Probe("write_store", "write the store", Assurance.AGENT, "It can sign itself in and change policies."),
    Probe("read_store", "read the store", None, "It can read drafts and addresses, and decide nothing."),
    Probe("sign_in_link", "print a sign-in link", Assurance.AGENT, "It can sign in as the owner."),
    Probe(
        "server_process",
        "read the memory or the environment of the server",
        Assurance.AGENT,
        "It can read the secrets there.",
    ),
    Probe("other_user", "become another user", Assurance.AGENT, "It can do all of the above."),
    Probe(
        "server_address",
        "sign up with the address of the server and nothing else",
        None,
        "It gets an empty workspace of its own, and reaches nothing in yours.",
    ),
)
NAMES: Final = tuple(probe.name for probe in PROBES)


def find_cap(open_probes: Iterable[str]) -> Assurance | None:
    """Return the most that the server may claim where these probes worked; None without a limit."""
    worked = frozenset(open_probes)
    caps = [probe.cap for probe in PROBES if probe.name in worked and probe.cap is not None]
    return min(caps, key=RANK.__getitem__) if caps else None


def lower(assurance: Assurance, cap: Assurance | None) -> Assurance | None:
    """Return the cap if it is below the assurance, else None."""
    return cap if cap is not None and RANK[cap] < RANK[assurance] else None


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
