"""A setting's row, and the kinds of values."""

from __future__ import annotations

import enum
from typing import Final

from assent.kernel.structs import Record

OWN_PREFIX: Final = "ASSENT_"
"""Prefix of our variables. An unknown one is probably a mistake and gets a warning."""


class Kind(enum.Enum):
    """How a value is written and checked. The enum value is the message for an invalid one."""

    TEXT = "text"
    HOST = "an address or host name to bind, such as 127.0.0.1, 0.0.0.0 or ::1"
    PATH = "a directory"
    FILE = "a file"
    DATABASE = "sqlite:///relative.db, sqlite:////absolute/path.db or postgresql://user@host/database"
    ORIGIN = "a web address without a path, such as https://assent.example.com"
    COUNT = "a whole number"
    SECONDS = "a number of seconds"
    SWITCH = "true or false"
    PRESENCE = "anything; setting it at all switches it on"
    CHOICE = "one of the listed words"
    FOLDERS = "folders, separated by colons in a variable, an array of strings in the file"
    NAMES = "a list: separated by commas or spaces in a variable, an array of strings in the file"
    OPERATORS = "files and modules, separated by commas in a variable, an array of strings in the file"
    PRICES = "a list of connectors with a whole number of credits each, such as zernio=2, resend=1"
    RISKS = "a list of tools that agents run with a risk each, such as claude-code:Write=low"
    ROLES = "a list of claim values with a workspace each, such as sales=Acme"
    KEY = "a workspace key, which starts with clp_live_ or clp_dev_"
    SECRET = "32 or more random characters"  # noqa: S105 - a description
    SECRETS = "a list of secrets, newest first"
    ENDPOINT = "a web address, such as https://models.example.com/v1"
    TOKEN = "the key that the service gave out"  # noqa: S105 - a description
    MAIL_SERVER = "smtp://host:587 or smtps://host:465; a user and password go before the host"
    MAILBOX = "an e-mail address, such as ann@example.org or Ann <ann@example.org>"


class Setting(Record, kw_only=True):
    """One row. `name` is also the key in the file."""

    name: str
    kind: Kind
    doc: str
    flag: str | None = None
    variable: str | None = None
    """The environment variable, if its name does not follow from the row's."""
    default_text: str | None = None
    """Describes a default that depends on other settings."""
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    in_file: bool = True

    @property
    def env(self) -> str:
        return self.variable or OWN_PREFIX + self.name.upper()

    @property
    def secret(self) -> bool:
        """Whether the value must never be shown."""
        return self.kind in (Kind.KEY, Kind.SECRET, Kind.SECRETS, Kind.TOKEN, Kind.MAIL_SERVER)
