"""What a text costs a model: its tokens as o200k has them, counted by the npm package `gpt-tokenizer`."""

from __future__ import annotations

import subprocess
from typing import Final

import msgspec

from benchmarks.figures import NotRun
from benchmarks.machine import ROOT

_TOOLS: Final = ROOT / ".node"
_PROGRAM: Final = """
import { text } from "node:stream/consumers";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
const texts = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(texts.map((each) => countTokens(each))));
"""


def count_tokens(*texts: str) -> list[int]:
    """Count the tokens of every text. Raises `NotRun` where the Node tools are missing."""
    program = next(_TOOLS.glob("node_modules/node-linux-*/bin/node"), None)
    if program is None or not (_TOOLS / "node_modules" / "gpt-tokenizer").exists():
        raise NotRun("scripts/node_tools.sh has not brought gpt-tokenizer")
    counted = subprocess.run(
        [program, "--input-type=module", "--eval", _PROGRAM],
        input=msgspec.json.encode(texts),
        capture_output=True,
        cwd=_TOOLS,
        check=True,
    )
    return msgspec.json.decode(counted.stdout, type=list[int])
