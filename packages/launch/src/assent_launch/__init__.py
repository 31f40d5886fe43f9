"""The reference operators of the contract and the code they need."""

from typing import Final

NAME: Final = "launch"
"""The name of this extension."""

LAUNCH_NEEDS: Final = {
    "goal": "what the launch is for",
    "repoContext": "an object with whatChanged, readme and targetCustomer, as far as known",
    "drafts": "your own text for each channel, by its id",
}
"""Arguments that a suggested launch lacks."""
