"""The question of a first start at a terminal: who may approve."""

from __future__ import annotations

import sys
from typing import Final

from assent.gate.policy import RELAY
from assent.settings.load import Settings

CHOICES: Final = {"1": RELAY, "2": "people"}
QUESTION: Final = """Who may approve what your agents prepare?

  1  Your agent may pass on your yes. For low and medium risk you say yes in the chat, and the agent
     tells the server. The server cannot see that it was you. High risk needs you, signed in.
  2  Only you, signed in. You decide everything on a page in your browser. No agent can approve.

You can change this later, at Settings > Policy or with `assent policy set`."""


def ask_policy(settings: Settings) -> str | None:
    """Ask for the preset of a new server. Returns None if the server has data, the settings name a
    preset, or no person is at a terminal."""
    path = settings.sqlite_path
    if path is None or path.exists() or settings.policy is not None:
        return None
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    sys.stderr.write(f"{QUESTION}\n")
    while True:
        sys.stderr.write("Choose 1 or 2 [1]: ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer:
            return None
        chosen = CHOICES.get(answer.strip() or "1")
        if chosen is not None:
            sys.stderr.write("\n")
            return chosen
