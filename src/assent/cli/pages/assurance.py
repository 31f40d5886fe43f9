"""Generates docs/assurance.md: `python -m assent.cli.pages.assurance > docs/assurance.md`."""

from __future__ import annotations

import sys

from assent.gate.rules.attacks import ATTACKS, LEVELS, can_approve

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

This page is made from the table in `src/assent/gate/rules/attacks.py`.
"""


def page() -> str:
    """Return the page as Markdown."""
    head = f"| it holds | {' | '.join(f'`{level}`' for level in LEVELS)} | why |"
    rows = [
        f"| {attack.holds} | {' | '.join(_cell(can_approve(attack, level)) for level in LEVELS)} | {attack.why} |"
        for attack in ATTACKS
    ]
    return "\n".join([INTRODUCTION, head, f"|---|{'---|' * len(LEVELS)}---|", *rows, "", END])


def _cell(can: bool) -> str:
    return "can" if can else "cannot"


if __name__ == "__main__":
    sys.stdout.write(page())
