"""`assent wrap --all` and `assent unwrap`: the servers of every client on this machine, behind the gate and back again.

The data directory keeps in `wrapped` a copy of each file as it was, and what was changed in it. Unwrapping puts the
copy back if the file is still the one that was written. Otherwise only the entries that were wrapped are put back,
each if it is still as it was written; the copy then stays.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from assent.platform import ClientFile, printable
from assent_wrap.client_files import (
    FIXED,
    WRAPPED,
    CannotChange,
    ServerEntry,
    WrappedEntry,
    list_entries,
    list_unplaced,
    plan_entry,
    read_file,
    replace_entries,
    write_entry,
)

FOLDER: Final = "wrapped"
CHANGES: Final = "changes.json"
WRITABLE: Final = 0o222
STARTED_BY: Final = frozenset({"command", "args", "env", "url", "serverUrl", "headers"})
"""What makes an entry another server, unless it is empty; clients keep other keys beside these."""


class ChangedEntry(msgspec.Struct, frozen=True):
    path: tuple[str, ...]
    before: str
    after: str


class ChangedFile(msgspec.Struct, frozen=True):
    """A file that was changed. `written` is the digest of what was written."""

    client: str
    file: str
    copy: str
    written: str
    entries: tuple[ChangedEntry, ...]
    configs: tuple[str, ...] = ()


class PlannedEntry(msgspec.Struct):
    """A server of a file: what it becomes, or why it is left."""

    name: str
    shown: str
    wrapping: WrappedEntry | None = None
    left: str = ""
    chosen: str = ""
    """Its name in questions and rules."""


class PlannedFile(msgspec.Struct):
    """A file of a client, as it is and as it would be."""

    client: str
    path: Path
    entries: list[PlannedEntry]
    before: bytes = b""
    after: str = ""
    left: str = ""
    """Why the whole file is left."""
    changed: tuple[ChangedEntry, ...] = ()


def plan(
    folder: Path, home: Path, here: Path, words: list[str], base_url: str, *, trust: bool
) -> list[PlannedFile]:
    """Return what wrapping all servers would change, file by file. Changes nothing."""
    names: dict[str, str] = {}
    found: list[PlannedFile] = []
    for client, known in ClientFile.list_known().items():
        for path in dict.fromkeys(known.locate_all(home, here)):
            planned = PlannedFile(client, path, [])
            try:
                if not path.is_file():
                    continue
                _plan_file(planned, known, folder, names, words, base_url, trust=trust)
            except (OSError, CannotChange) as why:
                planned.left = str(why)
            found.append(planned)
    return found


def _plan_file(
    planned: PlannedFile,
    client: ClientFile,
    folder: Path,
    names: dict[str, str],
    words: list[str],
    base_url: str,
    *,
    trust: bool,
) -> None:
    if not planned.path.stat().st_mode & WRITABLE:
        raise CannotChange("it is read-only")
    planned.before = planned.path.read_bytes()
    try:
        text = planned.before.decode()
    except UnicodeDecodeError:
        raise CannotChange("it is no text in UTF-8") from None
    entries, wrapped = list_entries(client, text), list[tuple[PlannedEntry, ChangedEntry]]()
    for entry in entries:
        name = _choose_name(names, entry, planned.client)
        row = PlannedEntry(entry.path[-1], _show(entry), chosen=name)
        planned.entries.append(row)
        before = text[entry.start : entry.end]

        def name_config(written: str, name: str = name) -> str:
            return str(folder / f"{name}-{_digest(written.encode())[:8]}.json")

        try:
            row.wrapping = plan_entry(client, entry, name, words, base_url, name_config, trust=trust)
            wrapped.append((row, ChangedEntry(entry.path, before, write_entry(client, before, row.wrapping))))
        except CannotChange as why:
            row.left, row.wrapping = str(why), None
    planned.entries += [
        PlannedEntry(each.path[-1], _show(each), left=FIXED) for each in list_unplaced(client, text, entries)
    ]
    try:
        _set_changes(planned, client, text, wrapped)
    except CannotChange:
        # Rare, and a file of some megabytes takes a second: only now it is tried which of them does not fit.
        _set_changes(planned, client, text, [each for each in wrapped if _fits(client, text, *each)])


def _fits(client: ClientFile, text: str, row: PlannedEntry, change: ChangedEntry) -> bool:
    """Whether a file differs in nothing else once an entry is changed; else the entry is left."""
    try:
        replace_entries(client, text, {change.path: change.after})
    except CannotChange as why:
        row.left, row.wrapping = str(why), None
        return False
    return True


def _set_changes(
    planned: PlannedFile, client: ClientFile, text: str, wrapped: list[tuple[PlannedEntry, ChangedEntry]]
) -> None:
    changed = tuple(change for _, change in wrapped)
    if changed:
        planned.after = replace_entries(client, text, {each.path: each.after for each in changed})
        planned.changed = changed


def _choose_name(names: dict[str, str], entry: ServerEntry, client: str) -> str:
    """Return a name that no other server has: acceptances and rules belong to a name."""
    value = entry.value
    same = (
        {key: value[key] for key in value if key in STARTED_BY and value[key]}
        if isinstance(value, dict)
        else value
    )
    known, name = json.dumps(same, sort_keys=True, default=str), entry.path[-1]
    tries = itertools.chain((name, f"{name}-{client}"), (f"{name}-{number}" for number in itertools.count(2)))
    return next(each for each in tries if names.setdefault(each, known) == known)


def _show(entry: ServerEntry) -> str:
    value = entry.value if isinstance(entry.value, dict) else {}
    args = value.get("args")
    command = [value.get("command", ""), *(args if isinstance(args, list) else [])]
    return str(value.get("url") or value.get("serverUrl") or " ".join(map(str, command)))


def describe(files: list[PlannedFile], *, trust: bool) -> Iterator[str]:
    """Yield the lines of a plan."""
    asks = (
        "reads pass, every other call asks"
        if trust
        else "every call asks, until a rule or --trust says otherwise"
    )
    for each in files:
        yield f"{ClientFile.list_known()[each.client].label}: {each.path}"
        if each.left:
            yield f"  left as it is: {each.left}"
        for row in each.entries:
            renamed = f", as {_in_line(row.chosen)}" if row.wrapping and row.chosen != row.name else ""
            yield f"  {_in_line(row.name)}{renamed}: {f'left, {row.left}' if row.left else asks}"
            if row.shown:
                yield f"    {_in_line(row.shown)}"


def _in_line(text: str) -> str:
    """Return a text of a file for a terminal: a folder that was cloned from elsewhere has no say over the screen."""
    return printable(text).replace("\n", " ")


def apply(folder: Path, files: list[PlannedFile]) -> list[ChangedFile]:
    """Change the files of a plan, each after its copy was kept. Returns what was changed; a file that cannot be
    written, or is not as it was planned any more, is left."""
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    done: list[ChangedFile] = []
    for planned in files:
        if not planned.changed:
            continue
        try:
            done.append(_change(folder, planned))
        except (OSError, CannotChange) as why:
            planned.left = str(why)
    return done


def _change(folder: Path, planned: PlannedFile) -> ChangedFile:
    known, name = _read_changes(folder), f"{planned.path.name}-{_digest(planned.before)[:8]}"
    copies = (folder / f"{number}-{name}" for number in itertools.count(len(known) + 1))
    copy = next(each for each in copies if not each.exists())
    wrappings = [row.wrapping for row in planned.entries if row.wrapping is not None and row.wrapping.config]
    for wrapping in wrappings:
        ClientFile.replace(Path(wrapping.config), wrapping.config_text.encode())
    ClientFile.replace(copy, planned.before)
    record = ChangedFile(
        client=planned.client,
        file=str(planned.path.absolute()),
        copy=str(copy),
        written=_digest(planned.after.encode()),
        entries=planned.changed,
        configs=tuple(wrapping.config for wrapping in wrappings),
    )
    if planned.path.read_bytes() != planned.before:
        _forget(record, known)
        raise CannotChange("it was changed meanwhile; repeat the command")
    # Written first: a change that was not made is undone by doing nothing.
    _write_changes(folder, [*known, record])
    ClientFile.replace(planned.path, planned.after.encode())
    return record


def _forget(change: ChangedFile, kept: list[ChangedFile]) -> None:
    """Delete what was written beside a change, but for what another change needs: two clients may share a server."""
    needed = {name for each in kept for name in (each.copy, *each.configs)}
    for made in {change.copy, *change.configs} - needed:
        Path(made).unlink(missing_ok=True)


class RestoredFile(msgspec.Struct):
    """What became of a file: whole, in parts, or why not."""

    file: str
    said: str
    complete: bool
    whole: bool = False
    """Whether it is as it was before, so that its copy is needed no more."""


def restore(folder: Path) -> list[RestoredFile]:
    """Put back what was wrapped, the last change first. A change that cannot be undone whole stays recorded."""
    found, kept = list[RestoredFile](), _read_changes(folder)
    for change in kept[::-1]:
        try:
            result = _restore(change)
        except (OSError, UnicodeDecodeError, CannotChange) as why:
            result = RestoredFile(
                change.file, f"left as it is: {why}. As it was before: {change.copy}", complete=False
            )
        found.append(result)
        if result.complete:
            # Written before the copy goes: what was put back is not looked for again after a crash.
            kept.remove(change)
            _write_changes(folder, kept)
        if result.whole:
            _forget(change, kept)
    return found


def _restore(change: ChangedFile) -> RestoredFile:
    path, before = Path(change.file), Path(change.copy).read_bytes()
    present = path.read_bytes()
    if _digest(present) in (change.written, _digest(before)):
        if present != before:
            ClientFile.replace(path, before)
        return RestoredFile(change.file, "restored, byte for byte", complete=True, whole=True)
    client, text = ClientFile.list_known()[change.client], present.decode()
    own = {each.path: each for each in list_entries(client, text)}
    back: dict[tuple[str, ...], str] = {}
    left: list[str] = []
    for each in change.entries:
        entry = own.get(each.path)
        if entry is None:  # its owner took it out, or gave it another name
            left += [other.path[-1] for other in own.values() if _starts(client, other, each)]
            continue
        now = text[entry.start : entry.end]
        if now == each.before:
            continue
        if read_file(client, now) == read_file(client, each.after):
            back[each.path] = each.before
        else:
            left.append(each.path[-1])
    if back:
        ClientFile.replace(path, replace_entries(client, text, back).encode())
    said = "was changed after it was wrapped: the wrapped servers were put back, everything else stays"
    if left:
        said = f"was changed after it was wrapped. Left, because they were changed, too: {', '.join(left)}"
    return RestoredFile(change.file, f"{said}. As it was before: {change.copy}", complete=not left)


def _starts(client: ClientFile, entry: ServerEntry, change: ChangedEntry) -> bool:
    """Whether an entry starts the server that another one started once it was wrapped."""
    wrapped = read_file(client, change.after)
    if client.is_toml:
        wrapped = wrapped[change.path[0]][change.path[1]]
    return isinstance(entry.value, dict) and all(
        entry.value.get(key) == wrapped.get(key) for key in ("command", "args")
    )


def _read_changes(folder: Path) -> list[ChangedFile]:
    path = folder / CHANGES
    return msgspec.json.decode(path.read_bytes(), type=list[ChangedFile]) if path.is_file() else []


def _write_changes(folder: Path, changes: list[ChangedFile]) -> None:
    if changes or (folder / CHANGES).is_file():
        ClientFile.replace(folder / CHANGES, msgspec.json.encode(changes))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def count_wrapped(files: list[PlannedFile]) -> tuple[int, int]:
    """Return how many servers a plan wraps, and how many are wrapped already."""
    rows = [row for each in files for row in each.entries]
    return sum(row.wrapping is not None for row in rows), sum(row.left == WRAPPED for row in rows)
