"""Generates docs/assurance.md: `python -m assent.cli.pages.assurance > docs/assurance.md`."""

from __future__ import annotations

import sys

from assent.gate.rules.attacks import ATTACKS, LEVELS, can_approve
from assent.gate.rules.boundary import PROBES

INTRODUCTION = """\
# Assurance

How surely a person decided, in one order: `agent` = `link` < `client` < `person` < `passkey`. The
[policy](policy.md) says which one an action needs.

| assurance | the server knows |
|---|---|
| `agent`, `link` | A caller with a key, or someone with the review link, says that a person agreed |
| `client` | A client says that its user pressed the button of its dialog; or a signed-in browser decides |
| `person` | A signed-in person confirmed exactly this content with a key of the origin |
| `passkey` | A person confirmed exactly this content with a passkey, verified by its device |

On https with a host name of its own a signed-in browser counts as `person`: no other program has its cookie. On plain
http, on `localhost` and on an IP address it counts as `client`, and a key of the origin makes it more.

## What an injected agent can approve

An agent may follow instructions that someone else wrote into a page or a mail. Each row is something that such an agent
may hold. A cell says whether it can approve an action for which the policy asks for this assurance. A test plays every
cell against a server.
"""

END = """\
An agent with a shell under the server's own user can do what the server can do: read the secrets, write the database,
print a sign-in link. No assurance helps against that; run the server as another user or on another machine
([SECURITY.md](../SECURITY.md)). `examples/break_the_gate.py` plays these attacks against a server with the policy
`people`, and nothing is executed.

## What the server claims

```sh
sudo assent boundary --user agent
```

`assent boundary` tries, as the user that your agent runs as, what the table below lists, and prints what held. It
changes nothing: a sign-in link is rolled back, files are opened and not written. Run it as root with `--user`, or as
that user. The result is stored for each user and is an event of the journal; a new check replaces it, and `--forget`
removes it.

{probes}

Where something with a cap worked, the server still asks people for what the policy says, and records how they came. It
no longer *claims* that it was a person: `assurance` in records, answers, webhooks and the audit log is the cap, an
approval has `claimed` beside what was seen, pages say that an agent of this machine could have signed in, and
`/.well-known/mcp.json` has `assurance.mostClaimed` with `boundary: "open"`. Without a check it says `unchecked`; where
everything held, `held` with the time. Approvals from before the check keep what was claimed then. The result is as
trustworthy as the store: a user who can write the store can remove it ([why](decisions/{decision})).

This page is made from the tables in `src/assent/gate/rules/attacks.py` and `src/assent/gate/rules/boundary.py`.
"""
DECISION = "0016-a-check-caps-what-is-claimed.md"


def page() -> str:
    """Return the page as Markdown."""
    head = f"| it holds | {' | '.join(f'`{level}`' for level in LEVELS)} | why |"
    rows = [
        f"| {attack.holds} | {' | '.join(_cell(can_approve(attack, level)) for level in LEVELS)} | {attack.why} |"
        for attack in ATTACKS
    ]
    probes = ["| an agent tries to | if it works, the server claims at most | why |", "|---|---|---|"]
    probes += [
        f"| {probe.does} | {f'`{probe.cap}`' if probe.cap is not None else 'what it sees'} | {probe.consequence} |"
        for probe in PROBES
    ]
    end = END.replace("{probes}", "\n".join(probes)).replace("{decision}", DECISION)
    return "\n".join([INTRODUCTION, head, f"|---|{'---|' * len(LEVELS)}---|", *rows, "", end])


def _cell(can: bool) -> str:
    return "can" if can else "cannot"


if __name__ == "__main__":
    sys.stdout.write(page())
