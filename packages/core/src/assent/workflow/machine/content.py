"""Submitted content: notes, output and the update of the context, with their limits.

`output` is one object with a `kind`, or `{artifacts: […], notesMarkdown?}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assent.kernel.canonical import NotCanonical, canonical, depth, digest
from assent.kernel.limits import (
    MAX_CONTEXT_BYTES,
    MAX_JSON_DEPTH,
    MAX_NOTES_BYTES,
    MAX_OUTPUT_BYTES,
    MAX_PROBLEMS,
)
from assent.kernel.structs import Record
from assent.kernel.texts import quote
from assent.workflow.issues import Issue

RESERVED: Final = frozenset({"__proto__", "constructor", "prototype"})
NOTES_KEY: Final = "notesMarkdown"
EMPTY_BYTES: Final = 2
"""The canonical bytes of an empty context."""


class ContentRefused(Exception):  # noqa: N818 - an answer, not a fault
    """The content cannot be taken at all. `code` is `context_too_large` or `validation_error`.

    For a size limit, `measured` and `allowed` are bytes. Nothing changed.
    """

    def __init__(self, code: str, issues: tuple[Issue, ...], measured: int = 0, allowed: int = 0) -> None:
        super().__init__(f"{code}: " + "; ".join(f"{issue.path}: {issue.message}" for issue in issues[:3]))
        self.code = code
        self.issues = issues
        self.measured = measured
        self.allowed = allowed


def refuse_content(path: str, code: str, message: str, measured: int = 0, allowed: int = 0) -> ContentRefused:
    """Build the refusal of invalid content with its one issue."""
    return ContentRefused("validation_error", (Issue(path, code, message),), measured, allowed)


class Content(Record, kw_only=True):
    """The content that an agent submits with an advance."""

    notes: str | None = None
    output: Any = None
    context: dict[str, Any] = {}


class Output(Record):
    """A parsed output: its artifacts with their paths, and the notes inside it."""

    artifacts: tuple[tuple[str, dict[str, Any]], ...] = ()
    notes: str | None = None

    def of_kind(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        """The artifacts of one kind, with their paths."""
        return [(path, artifact) for path, artifact in self.artifacts if artifact.get("kind") == kind]


def read_content(context: Mapping[str, Any] | None, notes: str | None, output: Any) -> tuple[Content, str]:
    """Return the content of an advance, and its digest, which identifies a repetition (W11, W12).
    Raises `ContentRefused` for notes that are too long and for values that are no JSON."""
    patch, joined = split_notes(context, notes)
    check_notes(joined)
    content = Content(notes=joined, output=output, context=patch)
    try:
        return content, digest({"notes": joined, "output": output, "context": patch})
    except (NotCanonical, TypeError, RecursionError):
        # Raise the refusal that names the part.
        measure(output, "output")
        measure(patch, "context")
        raise


def split_notes(context: Mapping[str, Any] | None, notes: str | None) -> tuple[dict[str, Any], str | None]:
    """Return the context without S2's notes in it, and all notes joined."""
    patch = dict(context or {})
    inner = patch.pop(NOTES_KEY, None)
    if inner is not None and not isinstance(inner, str):
        raise refuse_content("context.notesMarkdown", "type", "Notes are a text.")
    return patch, join_notes(notes, inner)


def join_notes(*given: str | None) -> str | None:
    """Join notes from several places: none are dropped, and repeated ones are kept once (W12)."""
    there = [part for part in given if part is not None]
    if len(there) < 2:
        return there[0] if there else None
    said = dict.fromkeys(part for part in there if part.strip())
    return "\n\n".join(said) if said else there[0]


def update(context: Mapping[str, Any], size: int, patch: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the updated context and its size. Null deletes a key; other values replace the old one
    whole (W52).

    Raises `ContentRefused` if it is too large (W47) or nested too deeply (W49). `size` is that of
    `context` (`EMPTY_BYTES` for an empty one), so the cost depends on the update, not on the whole
    context.
    """
    if not patch:
        return dict(context), size
    if issues := list(_find_reserved(patch)):
        raise ContentRefused("validation_error", tuple(issues[:MAX_PROBLEMS]))
    if depth(patch) > MAX_JSON_DEPTH:
        message = f"Context nests at most {MAX_JSON_DEPTH} deep; flatten it."
        raise refuse_content("context", "too_deep", message)
    merged, measured = dict(context), size
    for key, value in patch.items():
        if key in merged:
            measured -= _entry_bytes(key, merged.pop(key), last=not merged)
        if value is not None:
            measured += _entry_bytes(key, value, last=not merged)
            merged[key] = value
    if measured > MAX_CONTEXT_BYTES:
        message = f"The context has {measured} bytes of canonical JSON; {MAX_CONTEXT_BYTES} are allowed. Store less."
        raise ContentRefused(
            "context_too_large", (Issue("context", "too_large", message),), measured, MAX_CONTEXT_BYTES
        )
    return merged, measured


def _entry_bytes(key: str, value: Any, *, last: bool) -> int:
    """Canonical bytes of one entry: key, colon, value, and a comma unless it is the only one."""
    return measure(key, "context") + 1 + measure(value, f"context.{key}"[:200]) + (0 if last else 1)


def measure(value: Any, path: str) -> int:
    """Return the size in bytes of canonical JSON (W48). A value without a canonical form always
    raises a validation error (W54)."""
    try:
        return len(canonical(value))
    except (NotCanonical, TypeError, RecursionError) as error:
        message = f"Not plain JSON: {error}. Whole numbers go up to 2^53 - 1; send larger ones as text."
        raise refuse_content(path, "not_json", message)


def _find_reserved(patch: Mapping[str, Any]) -> Iterator[Issue]:
    """Yield an issue for every key reserved for the server or an object model (W53)."""
    if "wr" in patch:
        yield Issue("context.wr", "reserved_key", '"wr" belongs to the server; choose another name.')
    stack: list[tuple[str, Any]] = [("context", patch)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, Mapping):
            for key, part in value.items():
                if key in RESERVED or key.startswith("wr."):
                    yield Issue(
                        f"{path}.{key}", "reserved_key", f"{quote(key)} is reserved; choose another name."
                    )
                stack.append((f"{path}.{key}"[:200], part))
        elif isinstance(value, list):
            stack.extend((f"{path}[]"[:200], part) for part in value)


def check_notes(notes: str | None) -> None:
    """Raise `ContentRefused` for notes that are too long, in bytes (W50), or no text."""
    if notes is None:
        return
    try:
        measured = len(notes.encode())
    except UnicodeEncodeError:
        message = "Notes hold half a character (a lone surrogate)."
        raise refuse_content("notesMarkdown", "not_text", message)
    if measured > MAX_NOTES_BYTES:
        message = f"The notes have {measured} bytes; {MAX_NOTES_BYTES} are allowed. Shorten them."
        raise refuse_content("notesMarkdown", "too_large", message, measured, MAX_NOTES_BYTES)


def check_output_size(output: Any) -> None:
    """Raise `ContentRefused` for output that is too large or nested too deeply."""
    if output is None:
        return
    if depth(output) > MAX_JSON_DEPTH:
        message = f"Output nests at most {MAX_JSON_DEPTH} deep."
        raise refuse_content("output", "too_deep", message)
    measured = measure(output, "output")
    if measured > MAX_OUTPUT_BYTES:
        message = f"The output has {measured} bytes; {MAX_OUTPUT_BYTES} are allowed. Send less."
        raise refuse_content("output", "too_large", message, measured, MAX_OUTPUT_BYTES)


def parse_output(output: Any) -> tuple[Output, list[Issue]]:
    """Parse an output of either form. Returns it with the issues found."""
    if output is None:
        return Output(), []
    if not isinstance(output, dict):
        return Output(), [
            Issue("output", "type", f"Send an object with a kind, or artifacts; this is {quote(output)}.")
        ]
    notes = output.get("notesMarkdown")
    if notes is not None and not isinstance(notes, str):
        return Output(), [Issue("output.notesMarkdown", "type", "Notes are a text.")]
    if "kind" in output:
        single = {key: value for key, value in output.items() if key != "notesMarkdown"}
        return Output((("output", single),), notes), _kind_issues("output", single)
    listed = output.get("artifacts", [])
    if not isinstance(listed, list):
        return Output(), [Issue("output.artifacts", "type", "artifacts is a list of objects with a kind.")]
    issues = [] if set(output) & {"artifacts", "notesMarkdown"} or not output else [
        Issue("output.kind", "required", 'Add "kind", or send {"artifacts": […]}.')
    ]  # fmt: skip
    artifacts: list[tuple[str, dict[str, Any]]] = []
    for n, artifact in enumerate(listed):
        path = f"output.artifacts[{n}]"
        if isinstance(artifact, dict):
            artifacts.append((path, artifact))
            issues += _kind_issues(path, artifact)
        else:
            issues.append(
                Issue(path, "type", f"An artifact is an object with a kind; this is {quote(artifact)}.")
            )
    return Output(tuple(artifacts), notes), issues


def _kind_issues(path: str, artifact: dict[str, Any]) -> list[Issue]:
    kind = artifact.get("kind")
    if isinstance(kind, str) and kind:
        return []
    return [Issue(f"{path}.kind", "required", 'Add "kind", a text.')]
