"""Parses and checks values, with one function for each kind of setting.

Independent of the value's origin and of the setting's purpose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from assent.settings.kinds import Kind, Setting


class BadValue(ValueError):  # noqa: N818 - a state of the value
    """Why a value is invalid: a clause that fits after a colon."""


def parse_value(row: Setting, raw: object, *, base: Path, home: Path) -> Any:
    """Parse a row's value from text (flag, variable) or from TOML. Relative paths start at `base`."""
    return _PARSERS[row.kind](row, raw, base, home)


def _text(row: Setting, raw: object, base: Path, home: Path) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise BadValue("it must be text that is not empty")
    return raw.strip()


def _host(row: Setting, raw: object, base: Path, home: Path) -> str:
    host = _text(row, raw, base, home).strip("[]")
    if not re.fullmatch(r"[A-Za-z0-9.:_%-]+", host):
        raise BadValue("it is not an address or a host name (a web address belongs into base_url)")
    return host


def _path(row: Setting, raw: object, base: Path, home: Path) -> Path:
    path = Path(_text(row, str(raw) if isinstance(raw, Path) else raw, base, home))
    if path.parts[:1] == ("~",):
        path = home.joinpath(*path.parts[1:])
    # Not resolved: a symlink that is later moved should keep working.
    return Path(*(base / path).parts)


def _database(row: Setting, raw: object, base: Path, home: Path) -> str:
    url = _text(row, raw, base, home)
    if url.startswith("sqlite:///"):
        name = url.removeprefix("sqlite:///")
        if not name or name.startswith(":memory:") or name.endswith("/"):
            raise BadValue("SQLite needs a file, which several connections share")
        if set(name) & set("?#\0"):
            raise BadValue("a SQLite address takes no options, and ? or # in a path would look like one")
        return f"sqlite:///{_path(row, name, base, home)}"
    if url.startswith(("postgresql://", "postgres://")):
        return url
    raise BadValue("it names no store that Assent knows")


def _origin(row: Setting, raw: object, base: Path, home: Path) -> str:
    text = _text(row, raw, base, home).rstrip("/")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise BadValue("its port is not a number from 1 to 65535") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadValue("it must start with http:// or https:// and a host")
    if parts.path or parts.query or parts.fragment or parts.username is not None:
        raise BadValue("nothing may follow the host and port")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")


def _count(row: Setting, raw: object, base: Path, home: Path) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        raise BadValue("it is not a whole number")
    try:
        number = int(raw)
    except ValueError:
        raise BadValue("it is not a whole number") from None
    if not (row.low or 0) <= number <= (row.high or number):
        raise BadValue(f"it must be from {row.low} to {row.high}")
    return number


def _seconds(row: Setting, raw: object, base: Path, home: Path) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise BadValue("it is not a number")
    try:
        number = float(raw)
    except ValueError:
        raise BadValue("it is not a number") from None
    # NaN fails both comparisons.
    if not (row.low or 0) < number <= (row.high or number):
        raise BadValue(f"it must be more than {row.low} and at most {row.high}")
    return number


_WORDS: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


def _switch(row: Setting, raw: object, base: Path, home: Path) -> bool:
    if isinstance(raw, bool):
        return raw
    value = _WORDS.get(raw.strip().lower()) if isinstance(raw, str) else None
    if value is None:
        raise BadValue("it is neither true nor false")
    return value


def _presence(row: Setting, raw: object, base: Path, home: Path) -> bool:
    return bool(raw)


def _choice(row: Setting, raw: object, base: Path, home: Path) -> str:
    word = _text(row, raw, base, home).lower()
    if word not in row.choices:
        raise BadValue("it is not one of the words")
    return word


def _folders(row: Setting, raw: object, base: Path, home: Path) -> tuple[str, ...]:
    if isinstance(raw, str):
        return tuple(part for part in raw.split(":") if part)
    return _names(row, raw, base, home)


def _names(row: Setting, raw: object, base: Path, home: Path) -> tuple[str, ...]:
    if isinstance(raw, str):
        names = tuple(re.split(r"[,\s]+", raw.strip(" ,\t\n")))
    elif isinstance(raw, list | tuple) and all(isinstance(each, str) and each.strip() for each in raw):
        names = tuple(each.strip() for each in raw)
    else:
        raise BadValue("it is not a list of names")
    unknown = [each for each in names if row.choices and each not in row.choices]
    if unknown:
        raise BadValue(f"{unknown[0]!r} is not one of {', '.join(row.choices)}")
    return names


def _prices(row: Setting, raw: object, base: Path, home: Path) -> tuple[str, ...]:
    listed = _names(row, raw, base, home)
    for each in listed:
        if re.fullmatch(r"[a-z0-9_]{1,40}=[0-9]{1,9}", each) is None:
            raise BadValue(f"{each!r} is not a connector and its price")
    return listed


def _endpoint(row: Setting, raw: object, base: Path, home: Path) -> str:
    text = _text(row, raw, base, home).rstrip("/")
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise BadValue("its port is not a number from 1 to 65535") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadValue("it must start with http:// or https:// and a host")
    if parts.query or parts.fragment or parts.username is not None:
        raise BadValue("it may have a path, but neither options nor a user name")
    return text


def _mail_server(row: Setting, raw: object, base: Path, home: Path) -> str:
    # Parsed again by the connector; here to find a mistake at the start.
    from assent.net.mail_server import parse_server

    url = _text(row, raw, base, home)
    try:
        parse_server(url)
    except ValueError as error:
        raise BadValue(str(error)) from None
    return url


def _mailbox(row: Setting, raw: object, base: Path, home: Path) -> str:
    from assent.net.mail_server import parse_mailbox

    text = _text(row, raw, base, home)
    try:
        parse_mailbox(text)
    except ValueError as error:
        raise BadValue(str(error)) from None
    return text


_PARSERS: Final[dict[Kind, Callable[[Setting, object, Path, Path], Any]]] = {
    Kind.TEXT: _text,
    Kind.HOST: _host,
    Kind.PATH: _path,
    Kind.DATABASE: _database,
    Kind.ORIGIN: _origin,
    Kind.COUNT: _count,
    Kind.SECONDS: _seconds,
    Kind.SWITCH: _switch,
    Kind.PRESENCE: _presence,
    Kind.CHOICE: _choice,
    Kind.NAMES: _names,
    Kind.FOLDERS: _folders,
    Kind.PRICES: _prices,
    Kind.KEY: _text,
    Kind.SECRET: _text,
    Kind.SECRETS: _names,
    Kind.ENDPOINT: _endpoint,
    Kind.TOKEN: _text,
    Kind.MAIL_SERVER: _mail_server,
    Kind.MAILBOX: _mailbox,
}
