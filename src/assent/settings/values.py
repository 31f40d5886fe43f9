"""Parses and checks values, by the kind of setting.

Independent of the value's origin and of the setting's purpose.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from assent.settings.kinds import Kind, Setting


class BadValue(ValueError):  # noqa: N818 - a state of the value
    """Why a value is invalid: a clause that fits after a colon."""


_LISTS: Final = frozenset({Kind.NAMES, Kind.FOLDERS, Kind.PRICES, Kind.RISKS, Kind.ROLES, Kind.SECRETS})


def parse_value(row: Setting, raw: object, *, base: Path, home: Path) -> Any:
    """Parse a value from text (flag, variable) or TOML. Relative paths start at `base`."""
    if row.kind is Kind.PRESENCE:
        return bool(raw)
    if row.kind is Kind.SWITCH:
        return _switch(raw)
    if row.kind is Kind.COUNT or row.kind is Kind.SECONDS:
        return _number(row, raw)
    if row.kind is Kind.OPERATORS:
        return _operators(raw, base, home)
    if row.kind in _LISTS:
        return _names(row, raw)
    if row.kind in (Kind.PATH, Kind.FILE) and isinstance(raw, Path):
        raw = str(raw)
    if not isinstance(raw, str) or not raw.strip():
        raise BadValue("it must be text that is not empty")
    return _text(row, raw.strip(), base, home)


def _text(row: Setting, text: str, base: Path, home: Path) -> str | Path:
    match row.kind:
        case Kind.HOST:
            return _host(text)
        case Kind.PATH | Kind.FILE:
            return absolute_path(text, base=base, home=home)
        case Kind.DATABASE:
            return _database(text, base, home)
        case Kind.ORIGIN:
            return _origin(text)
        case Kind.ENDPOINT:
            return _endpoint(text)
        case Kind.CHOICE:
            if text.lower() not in row.choices:
                raise BadValue("it is not one of the words")
            return text.lower()
        case Kind.MAIL_SERVER | Kind.MAILBOX:
            return _mail(row.kind, text)
    return text


def _host(text: str) -> str:
    host = text.strip("[]")
    if not re.fullmatch(r"[A-Za-z0-9.:_%-]+", host):
        raise BadValue("it is not an address or a host name (a web address belongs into base_url)")
    return host


def absolute_path(text: str, *, base: Path, home: Path) -> Path:
    """The path without `~`. Not resolved: a symlink that is later moved should keep working."""
    path = Path(text)
    if path.parts[:1] == ("~",):
        path = home.joinpath(*path.parts[1:])
    return base / path


def _database(url: str, base: Path, home: Path) -> str:
    if url.startswith("sqlite:///"):
        name = url.removeprefix("sqlite:///")
        if not name or name.startswith(":memory:") or name.endswith("/"):
            raise BadValue("SQLite needs a file, which several connections share")
        if set(name) & set("?#\0"):
            raise BadValue("a SQLite address takes no options, and ? or # in a path would look like one")
        return f"sqlite:///{absolute_path(name, base=base, home=home)}"
    if url.startswith(("postgresql://", "postgres://")):
        return url
    raise BadValue("it names no store that Assent knows")


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise BadValue("its port is not a number from 1 to 65535") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadValue("it must start with http:// or https:// and a host")
    return parts


def _origin(text: str) -> str:
    parts = _split(text.rstrip("/"))
    if parts.path or parts.query or parts.fragment or parts.username is not None:
        raise BadValue("nothing may follow the host and port")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port is not None else "")


def _endpoint(text: str) -> str:
    parts = _split(text.rstrip("/"))
    if parts.query or parts.fragment or parts.username is not None:
        raise BadValue("it may have a path, but neither options nor a user name")
    return text.rstrip("/")


def _number(row: Setting, raw: object) -> int | float:
    make, name = (int, "a whole number") if row.kind is Kind.COUNT else (float, "a number")
    if isinstance(raw, bool) or not isinstance(raw, int | str | make):
        raise BadValue(f"it is not {name}")
    try:
        number = make(raw)
    except ValueError:
        raise BadValue(f"it is not {name}") from None
    low, high = row.low or 0, row.high or number
    if row.kind is Kind.COUNT and not low <= number <= high:
        raise BadValue(f"it must be from {row.low} to {row.high}")
    # NaN fails both comparisons.
    if row.kind is Kind.SECONDS and not low < number <= high:
        raise BadValue(f"it must be more than {row.low} and at most {row.high}")
    return number


_WORDS: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


def _switch(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    value = _WORDS.get(raw.strip().lower()) if isinstance(raw, str) else None
    if value is None:
        raise BadValue("it is neither true nor false")
    return value


def _names(row: Setting, raw: object) -> tuple[str, ...]:
    if isinstance(raw, str) and row.kind is Kind.FOLDERS:
        return tuple(part for part in raw.split(":") if part)
    if isinstance(raw, str):
        names = tuple(re.split(r"[,\s]+", raw.strip(" ,\t\n")))
    elif isinstance(raw, list | tuple) and all(isinstance(each, str) and each.strip() for each in raw):
        names = tuple(each.strip() for each in raw)
    else:
        raise BadValue("it is not a list of names")
    for each in names:
        if row.choices and each not in row.choices:
            raise BadValue(f"{each!r} is not one of {', '.join(row.choices)}")
        if row.kind is Kind.PRICES and re.fullmatch(r"[a-z0-9_]{1,40}=[0-9]{1,9}", each) is None:
            raise BadValue(f"{each!r} is not a connector and its price")
        if row.kind is Kind.RISKS and re.fullmatch(r"[^:=]+:[^=]+=(low|medium|high)", each) is None:
            raise BadValue(f"{each!r} is not a source, : and a tool, = and low, medium or high")
        if row.kind is Kind.ROLES and not all(part.strip() for part in each.rpartition("=")):
            raise BadValue(f"{each!r} is not a claim value, = and a workspace")
    return names


def _operators(raw: object, base: Path, home: Path) -> tuple[str, ...]:
    """The names of modules as they are, and the absolute paths of files."""
    listed = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        raise BadValue("it is not a list of files and modules")
    names = [each.strip() for each in listed if each.strip()]
    return tuple(
        str(absolute_path(each, base=base, home=home)) if each.endswith(".py") or "/" in each else each
        for each in names
    )


def _mail(kind: Kind, text: str) -> str:
    # Parsed again by the connector; here to find a mistake at the start.
    from assent.net.mail_server import parse_mailbox, parse_server

    try:
        parse_mailbox(text) if kind is Kind.MAILBOX else parse_server(text)
    except ValueError as error:
        raise BadValue(str(error)) from None
    return text
