"""The reference operators of the contract and the code they need."""

from typing import Final

NAME: Final = "launch"
"""The name of this extension."""
