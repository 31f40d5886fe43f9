"""Loads the settings: flags over environment over file over default.

The only reader of the environment. An invalid value is refused with the problem, the reason and a
correction. An unknown variable with our prefix is a warning, because it may belong to another
program.

Few imports, because the first answer on stdio waits for them.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import msgspec

from assent.kernel.ids import is_uuid
from assent.kernel.limits import (
    CLIENT_DIALOG_SECONDS,
    HELD_AFTER,
    MAX_CONNECTIONS,
    PAGES_PER_MINUTE,
    RATE_LIMIT_PER_MINUTE,
    SIGNUPS_PER_HOUR,
    STORAGE_QUOTA_MB,
    UNDO_SECONDS,
    WORKFLOW_RETENTION_DAYS,
)
from assent.kernel.structs import Record
from assent.kernel.toolsets import DEFAULT_TOOLSETS
from assent.net.loopback import LOOPBACK_HOSTS, LOOPBACKS, has_both
from assent.settings.table import (
    BY_NAME,
    CONFIG_ENV,
    CONFIG_FILE,
    CONFIG_FLAG,
    EFFECTS,
    OWN_PREFIX,
    SECTIONS,
    TABLE,
    Kind,
    Setting,
)


class SettingsError(Exception):
    """The message is for a person and holds no secret."""


class BadFlag(SettingsError):  # noqa: N818 - what was written
    """The mistake is in the command line."""


class Settings(Record, kw_only=True):
    """The table describes the settings. Secrets are listed newest first."""

    data_dir: Path
    database_url: str
    base_url: str
    host: str = "127.0.0.1"
    port: int = 8080
    tls_cert: Path | None = None
    tls_key: Path | None = None
    api_key: str | None = None
    metrics_key: str | None = None
    rate_limit_per_minute: int = RATE_LIMIT_PER_MINUTE
    page_limit_per_minute: int = PAGES_PER_MINUTE
    signups_per_hour: int = SIGNUPS_PER_HOUR
    storage_quota_mb: int = STORAGE_QUOTA_MB
    held_after: int = HELD_AFTER
    max_connections: int = MAX_CONNECTIONS
    run_token_secrets: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = DEFAULT_TOOLSETS
    policy: str | None = None
    open_discovery: bool = True
    oauth: bool = True
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    trust_proxy_headers: bool = False
    log_level: str = "info"
    log_format: str = "auto"
    connector_timeout_seconds: float = 20.0
    review_ttl_seconds: int = 604_800
    undo_seconds: int = UNDO_SECONDS
    drain_seconds: int = 0
    client_dialog_seconds: int = CLIENT_DIALOG_SECONDS
    measure_after_seconds: float = 86_400.0
    allow_hosts: tuple[str, ...] = ()
    credit_prices: tuple[str, ...] = ()
    workflow_dirs: tuple[str, ...] = ()
    owner_workspaces: tuple[str, ...] | None = None
    operators: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    workflow_checkpoints: bool = True
    workflow_retention_days: int = WORKFLOW_RETENTION_DAYS
    content_retention_days: int = 0
    execution_lease_seconds: float = 60.0
    smtp_url: str | None = None
    smtp_from: str | None = None
    open_browser: bool = True
    oidc_issuer: str | None = None
    oidc_client_id: str | None = None
    oidc_client_secret: str | None = None
    oidc_name: str | None = None
    oidc_domains: tuple[str, ...] = ()
    oidc_workspaces: tuple[str, ...] = ("local",)
    oidc_claim: str = "groups"
    oidc_owners: tuple[str, ...] = ()
    oidc_members: tuple[str, ...] = ()
    pool_size: int = 10
    statement_cache: str = "auto"
    no_color: bool = False
    added: Mapping[str, Any] = {}
    """The values of the rows that our other distributions bring."""
    hidden: tuple[str, ...] = ()
    """The secrets among them."""
    database_in_file: bool = False
    """Another process that reads the file then needs no flag for it."""
    effects: Any = None
    """The sections `[effect.NAME]` of the file, not yet checked."""
    sections: Any = None
    """The sections `[extension.NAME]` of the file, not yet checked."""
    config_file: Path | None = None
    """The file that was read, if any."""

    @property
    def sqlite_path(self) -> Path | None:
        """The file of the embedded database, or None on PostgreSQL."""
        if self.database_url.startswith(SQLITE_SCHEME):
            return Path(self.database_url.removeprefix(SQLITE_SCHEME))
        return None

    @property
    def named_workspaces(self) -> tuple[str, ...]:
        """The workspaces that settings name, by name or id; the default one always."""
        values = {**msgspec.structs.asdict(self), **self.added}
        named = [each for name, of in values.items() if name.endswith("_workspaces") for each in of or ()]
        return ("local", *named, *(each.rpartition("=")[2] for each in self.oidc_members))

    def __repr__(self) -> str:
        """Without secrets: the repr may end up in a log or a traceback."""
        store = "sqlite" if self.sqlite_path else "postgresql"
        return f"Settings(data_dir={str(self.data_dir)!r}, store={store!r}, base_url={self.base_url!r}, …)"


DEFAULTS: Final[Mapping[str, Any]] = {each.name: each.default for each in msgspec.structs.fields(Settings)}
"""The default of each setting; `NODEFAULT` for one that depends on others."""

EVERY_WORKSPACE: Final = "all"
"""As `owner_workspaces`: whatever the settings bring serves every workspace."""

SQLITE_SCHEME: Final = "sqlite:///"
"""Prefix of the path, which is absolute once settings are loaded."""


class Loaded(Record):
    """The settings, warnings for the operator, the rows that were read, and the origin of each value."""

    settings: Settings
    warnings: tuple[str, ...]
    rows: tuple[Setting, ...]
    sources: Mapping[str, str]


def load_settings(
    flags: Mapping[str, object],
    environ: Mapping[str, str] | None = None,
    added: tuple[Setting, ...] = (),
) -> Loaded:
    """Settings from flags (by setting name, `config` too; None means not given), environment and
    file. `added` are the rows of our other distributions (`assent.extensions.hooks`).

    Raises `SettingsError` for the first mistake.
    """
    rows = (*TABLE, *added)
    environ = os.environ if environ is None else environ
    given_flags = {name: value for name, value in flags.items() if value is not None}
    home = _find_home(environ)
    reader = _SettingReader(given_flags, environ, home)

    default_data_dir = _default_data_dir(environ, home)
    config_file = _config_file(reader, default_data_dir)
    file_values = _read_file(config_file, rows) if config_file is not None else {}
    reader.file, reader.file_path = file_values, config_file

    values = {row.name: reader.value(row) for row in TABLE}
    warnings = [*_unknown_variables(environ, rows), *_warn_of_exposed(config_file, file_values, rows)]

    values["data_dir"] = data_dir = values["data_dir"] or default_data_dir
    if values["database_url"] is None:
        values["database_url"] = reader.database_in(data_dir)
    values["base_url"] = values["base_url"] or own_address(
        values["host"], values["port"], secure=values["tls_cert"] is not None
    )
    if reader.sources["signups_per_hour"] == "default" and is_public(values["base_url"]):
        values["signups_per_hour"] = 0
    _require_pair(values)
    for current, previous, gathered in SECRET_PAIRS:
        newest, earlier = values.pop(current), values.pop(previous)
        values[gathered] = _gather(BY_NAME[current].env, BY_NAME[previous].env, newest, earlier)
    warnings += _fit_timeout_into_lease(values)
    _check_oidc(values)
    _check_owner_workspaces(values["owner_workspaces"] or ())
    in_file = reader.sources["database_url"].startswith("file ")
    brought = {row.name: reader.value(row) for row in added}
    settings = Settings(
        **values,
        added=brought,
        hidden=tuple(brought[row.name] for row in added if row.secret and brought[row.name]),
        effects=file_values.get(EFFECTS),
        sections=file_values.get(SECTIONS),
        config_file=config_file,
        database_in_file=in_file,
    )
    return Loaded(settings, tuple(warnings), rows, {row.name: reader.sources[row.name] for row in rows})


SECRET_PAIRS: Final = (
    ("run_token_secret", "run_token_secret_previous", "run_token_secrets"),
    ("secret", "secret_previous", "secrets"),
)


class _SettingReader:
    """Finds the effective value of a row and remembers its origin."""

    def __init__(self, flags: Mapping[str, object], environ: Mapping[str, str], home: Path) -> None:
        self.flags = flags
        self.environ = environ
        self.home = home
        self.file: Mapping[str, Any] = {}
        self.file_path: Path | None = None
        self.sources: dict[str, str] = {}

    def value(self, row: Setting) -> Any:
        here = Path.cwd
        if row.name in self.flags:
            label = row.flag or row.name
            return self._parsed(row, self.flags[row.name], f"flag {label}", f"{label} …", here())
        # An empty variable is how compose files and shells write "not set".
        if self.environ.get(row.env, "") != "":
            return self._parsed(row, self.environ[row.env], f"environment {row.env}", f"{row.env}=…", here())
        if row.name in self.file and self.file_path is not None:
            base = self.file_path.parent
            return self._parsed(row, self.file[row.name], f"file {self.file_path}", f"{row.name} = …", base)
        self.sources[row.name] = "default"
        if BY_NAME.get(row.name) is not row:
            return row.default
        return None if row.default_text is not None else DEFAULTS.get(row.name)

    def database_in(self, data_dir: Path) -> str:
        """The default SQLite URL. Refuses a directory whose name cannot be part of a URL."""
        url = f"{SQLITE_SCHEME}{data_dir / 'assent.db'}"
        try:
            parse_value(BY_NAME["database_url"], url, base=data_dir, home=self.home)
        except BadValue as bad:
            raise SettingsError(
                f"The data directory {data_dir} ({self.sources['data_dir']}) cannot hold the database: {bad}.\n"
                "Name another with --data-dir or ASSENT_DATA_DIR."
            ) from None
        return url

    def _parsed(self, row: Setting, raw: object, source: str, form: str, base: Path) -> Any:
        self.sources[row.name] = source
        try:
            return parse_value(row, raw, base=base, home=self.home)
        except BadValue as bad:
            shown = (
                "a value that is not shown here" if row.secret else f"the value {hide_password(str(raw))!r}"
            )
            mistake = BadFlag if row.name in self.flags else SettingsError
            raise mistake(
                f"The setting {row.name} ({source}) has {shown}, which does not work: {bad}.\n"
                f"Write {form} with {row.kind.value}."
                + (f" Possible: {', '.join(row.choices)}." if row.choices else "")
            ) from None


def _check_oidc(values: Mapping[str, Any]) -> None:
    """Refuse an issuer with which no one could sign in."""
    if values["oidc_issuer"] is None:
        return
    if values["oidc_client_id"] is None:
        raise SettingsError(
            "oidc_issuer is set but oidc_client_id is not, so no one can sign in with it.\n"
            "Set the client id that the issuer gave to this server."
        )
    if not (values["oidc_domains"] or values["oidc_owners"] or values["oidc_members"]):
        raise SettingsError(
            "oidc_issuer is set, but no setting says who may sign in with it.\n"
            "Set oidc_domains, oidc_owners or oidc_members."
        )


def _check_owner_workspaces(listed: tuple[str, ...]) -> None:
    """Refuse names: another workspace could take one, ids are given once."""
    if wrong := [each for each in listed if each != EVERY_WORKSPACE and not is_uuid(each)]:
        raise SettingsError(
            f"owner_workspaces has {wrong[0]!r}, which is not the id of a workspace.\n"
            f"Write ids, which `assent workspace list` shows, or {EVERY_WORKSPACE!r} for every workspace."
        )


def _find_home(environ: Mapping[str, str]) -> Path:
    """The home directory. A user of a container may have none, and gets `/`, as container engines do it."""
    try:
        return Path(environ.get("HOME") or Path.home())
    except RuntimeError:
        return Path("/")


def _default_data_dir(environ: Mapping[str, str], home: Path) -> Path:
    """XDG base directories: a relative value must be ignored."""
    xdg = environ.get("XDG_DATA_HOME", "")
    return (Path(xdg) if xdg.startswith("/") else home / ".local" / "share") / "assent"


def _config_file(reader: _SettingReader, default_data_dir: Path) -> Path | None:
    """The file to read. A named one must exist, the one in the data directory may."""
    named = reader.flags.get("config") or reader.environ.get(CONFIG_ENV)
    if named:
        path = absolute_path(str(named), base=Path.cwd(), home=reader.home)
        if not path.is_file():
            raise SettingsError(
                f"The settings file {path} does not exist.\n"
                f"Name a file that does with {CONFIG_FLAG} or {CONFIG_ENV}, or leave both out."
            )
        return path
    data_dir = reader.value(BY_NAME["data_dir"]) or default_data_dir
    path = data_dir / CONFIG_FILE
    try:
        return path if path.is_file() else None
    except OSError:
        return None


def _read_file(path: Path, rows: tuple[Setting, ...]) -> dict[str, Any]:
    import tomllib

    try:
        with path.open("rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise SettingsError(
            f"The settings file {path} cannot be read: {error.strerror}.\n"
            f"Check its owner and mode, or name another with {CONFIG_FLAG}."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The settings file {path} is not TOML: {error}.\nCorrect that line.") from error
    _refuse_unknown(f"The settings file {path}", values, [*_list_keys(rows), EFFECTS, SECTIONS])
    return values


def _list_keys(rows: Iterable[Setting]) -> list[str]:
    return [row.name for row in rows if row.in_file]


def _refuse_unknown(where: str, values: Iterable[str], known: list[str]) -> None:
    for key in values:
        if key not in known:
            hint = suggestion(key.replace("-", "_").removeprefix("assent_"), known)
            raise SettingsError(
                f"{where} has the unknown key {key!r}."
                + (f" Did you mean {hint!r}?" if hint else "")
                + f"\nKnown keys: {', '.join(known) or 'none'}."
            )


def read_sections(
    settings: Settings, declared: Mapping[str, tuple[Setting, ...]]
) -> dict[str, dict[str, Any]]:
    """Return the values of the sections `[extension.NAME]` of the file, or their defaults: for each extension, by name,
    those of its rows. Raises `SettingsError` for the first mistake."""
    file, sections = settings.config_file, {} if settings.sections is None else settings.sections
    if not isinstance(sections, dict) or not all(isinstance(each, dict) for each in sections.values()):
        raise SettingsError(
            f"The settings file {file} has an entry in [extension] that does not work: it is no section.\n"
            "Give each extension a section of its own, [extension.NAME]."
        )
    if unknown := sorted(sections.keys() - declared.keys()):
        raise SettingsError(
            f"The settings file {file} has the section [extension.{unknown[0]}], and no extension is called "
            f"{unknown[0]}.\nCorrect the name, or leave the section out. Extensions: {', '.join(declared) or 'none'}."
        )
    return {
        name: _read_section(rows, sections.get(name, {}), file, f"The section [extension.{name}] of {file}")
        for name, rows in declared.items()
    }


def _read_section(
    rows: tuple[Setting, ...], given: Mapping[str, Any], file: Path | None, where: str
) -> dict[str, Any]:
    _refuse_unknown(where, given, _list_keys(rows))
    reader = _SettingReader({}, {}, _find_home(os.environ))
    reader.file, reader.file_path = given, file or Path()
    return {row.name: reader.value(row) for row in rows}


def hide_password(url: str) -> str:
    before, separator, host = url.rpartition("@")
    scheme, slashes, user = before.partition("://")
    if not separator or not slashes:
        return url
    return f"{scheme}://{user.partition(':')[0]}:…@{host}"


def suggestion(word: str, known: list[str]) -> str | None:
    """The known word that was probably meant."""
    import difflib

    return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=0.6)), None)


def _unknown_variables(environ: Mapping[str, str], rows: tuple[Setting, ...]) -> list[str]:
    known = [*(row.env for row in rows), CONFIG_ENV]
    found = []
    for name in sorted(environ):
        if name.startswith(OWN_PREFIX) and name not in known:
            # Compared without the prefix, which would make all names look alike.
            ours = [each.removeprefix(OWN_PREFIX) for each in known if each.startswith(OWN_PREFIX)]
            hint = suggestion(name.removeprefix(OWN_PREFIX), ours)
            found.append(
                f"The environment variable {name} is not a setting and was ignored."
                + (f" Did you mean {OWN_PREFIX}{hint}?" if hint else "")
            )
    return found


def _warn_of_exposed(path: Path | None, values: Mapping[str, Any], rows: tuple[Setting, ...]) -> list[str]:
    """Warn if others can read a settings file that holds a secret."""
    held = [row.name for row in rows if row.secret and row.name in values]
    if path is None or not held or os.name != "posix" or not path.stat().st_mode & 0o077:
        return []
    return [f"The settings file {path} holds {held[0]} and other users can read it. Run: chmod 600 {path}"]


def _gather(
    env: str, env_previous: str, newest: str | None, earlier: tuple[str, ...] | None
) -> tuple[str, ...]:
    if newest is None and earlier:
        raise SettingsError(
            f"{env_previous} is set but {env} is not, so there is no newest secret to sign with.\n"
            f"Set {env} too, or remove {env_previous}."
        )
    return () if newest is None else (newest, *(earlier or ()))


def is_public(base_url: str) -> bool:
    """Whether a server is meant for more than this machine and its own network, by its address."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".localhost", ".local", ".lan", ".internal", ".home.arpa"))


def own_address(host: str, port: int, *, secure: bool = False) -> str:
    """The URL at which a browser on this machine reaches the listener: `localhost` where the server
    binds both loopback addresses, because passkeys need a name."""
    if host in LOOPBACK_HOSTS and has_both():
        return f"http{'s' if secure else ''}://localhost:{port}"
    return literal_address(LOOPBACKS[0] if host == "localhost" else host, port, secure=secure)


def _require_pair(values: Mapping[str, Any]) -> None:
    """Refuse a certificate without its key, and a key without its certificate."""
    for given, missing in (("tls_cert", "tls_key"), ("tls_key", "tls_cert")):
        if values[given] is not None and values[missing] is None:
            raise SettingsError(
                f"{given} is set but {missing} is not, and https needs both.\n"
                f"Set {BY_NAME[missing].env} too, or remove {given}."
            )


def literal_address(host: str, port: int, *, secure: bool = False) -> str:
    """The URL of one address. Wildcard addresses are reached over loopback."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    scheme = "https" if secure else "http"
    return f"{scheme}://[{name}]:{port}" if ":" in name else f"{scheme}://{name}:{port}"


def _fit_timeout_into_lease(values: dict[str, Any]) -> list[str]:
    """A call that outlives its lease would be recorded as unknown."""
    timeout, lease = values["connector_timeout_seconds"], values["execution_lease_seconds"]
    if timeout < lease:
        return []
    values["connector_timeout_seconds"] = shorter = lease * 0.8
    return [
        f"connector_timeout_seconds ({timeout:g}) must be shorter than execution_lease_seconds ({lease:g}); "
        f"{shorter:g} is used. Set ASSENT_CONNECTOR_TIMEOUT_SECONDS below the lease."
    ]


# Parses and checks values, by the kind of setting.
#
# Independent of the value's origin and of the setting's purpose.


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
        if not _has_readable_hosts(url):
            raise BadValue(
                "special characters of user and password must be percent-encoded, such as / as %2F"
            )
        return url
    raise BadValue("it names no store that Assent knows")


def _has_readable_hosts(url: str) -> bool:
    """Whether what stands where hosts and ports are expected is hosts and ports, and no part of a password."""
    authority, path = re.split(r"[/?#]", f"{url.partition('://')[2]}/", maxsplit=1)
    hosts = authority.rpartition("@")[2].split(",")
    ports = [each.rpartition(":")[2] for each in hosts if ":" in each and not each.endswith("]")]
    return "@" not in path.partition("?")[0] and all(each.isdecimal() or not each for each in ports)


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
    from assent.net.mail_server import Mailbox, MailServer

    try:
        Mailbox.parse(text) if kind is Kind.MAILBOX else MailServer.parse(text)
    except ValueError as error:
        raise BadValue(str(error)) from None
    return text
