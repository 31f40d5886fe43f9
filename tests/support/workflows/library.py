"""The definitions that tests run: the public library beside the repository, and our own."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import assent.engine.definitions.builtin
from assent.engine.definitions.library import load_document
from assent.extensions.hooks import load_extensions
from assent.workflow import Compiled, Definition, compile_definition, parse

ROOT = Path(__file__).resolve().parents[3]
PUBLIC = next(
    (found for folder in ROOT.parents if (found := folder / "shared/data/workrail-workflows").is_dir()),
    ROOT.parent / "shared/data/workrail-workflows",
)
"""Beside the clone, or beside a folder around it; tests of it are skipped where it is absent."""
BUILTIN = Path(assent.engine.definitions.builtin.__file__).parent
NOT_WORKFLOWS = ("workflow.schema.json", "invalid-workflow.json")
ABSENT = "the public workflow library is not beside the repository"


def public_files() -> list[Path]:
    return [path for path in sorted(PUBLIC.rglob("*.json")) if path.name not in NOT_WORKFLOWS]


def builtin_files() -> list[Path]:
    """The files that the core and its extensions ship."""
    folders = (BUILTIN, *(folder for each in load_extensions() for folder in each.workflows))
    return sorted(path for folder in folders for path in folder.glob("*.json"))


def read(path: Path) -> Any:
    return load_document(path.read_bytes(), path.suffix)


@functools.cache
def definitions() -> dict[str, Definition]:
    parsed = [parse(read(path), path.name) for path in (*public_files(), *builtin_files())]
    return {definition.id: definition for definition in parsed}


@functools.cache
def compiled(path: Path) -> Compiled:
    return compile_definition(parse(read(path), path.name), definitions(), file=path.name)


def program_of(*steps: dict[str, Any], **more: Any) -> Any:
    """The program of a small definition with these steps."""
    return compile_definition(parse(document(*steps, **more), "test.json")).program


def document(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "test-workflow",
        "name": "Test",
        "description": "A workflow of the tests.",
        "version": "1.0.0",
        "steps": list(steps),
        **more,
    }


def step(step_id: str, **more: Any) -> dict[str, Any]:
    return {"id": step_id, "title": step_id, "prompt": f"Do {step_id}.", **more}


def loop(loop_id: str, body: Any, **config: Any) -> dict[str, Any]:
    return {
        "id": loop_id,
        "type": "loop",
        "title": loop_id,
        "loop": {"maxIterations": 5, **config},
        "body": body,
    }


ARTIFACT_LOOP = {
    "type": "while",
    "conditionSource": {
        "kind": "artifact_contract",
        "contractRef": "wr.contracts.loop_control",
        "loopId": "the-loop",
    },
}


def decision(word: str, **more: Any) -> dict[str, Any]:
    return {"kind": "wr.loop_control", "decision": word, **more}
