"""The words that people find runs and actions by, in any order and by how they begin.

A row for each run and each action has its words: `about` those of its run and its agent, `body` those of its content.
SQLite indexes the rows by FTS5 and triggers, PostgreSQL by a generated `tsvector`.

Staging only queues the run, because the index would take a sixth of all pages that a proposal, its approval and its
execution write. `indexing` works the queue off before each search. An edit and an erasure write the words in their own
transaction: nobody may find what is gone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from assent.gate.records import Action, Run, read_proposal
from assent.kernel.ids import WorkspaceId
from assent.ports import Row, Transaction
from assent.present.status_report import describe_run
from assent.sql.loader import statements

MOST_FOUND: Final = 1_000
"""The newest matches that one search returns."""
MOST_WORDS: Final = 12
MAX_CHARS: Final = 20_000
"""Of the words of one row."""
_WORD: Final = re.compile(r"[^\W_]+")


def queue(run: Run) -> Transaction[None]:
    """Leave a run and its actions to the next search."""
    yield statements.queue_for_search(workspace_id=run.workspace_id, run_id=run.run_id)


def index(run: Run, staged: Iterable[Action] = (), name: str = "") -> Transaction[None]:
    """Store the words of a run with those of its actions. `name`: what it is called beside its inputs."""
    said = " ".join((name, describe_run(run.inputs), run.tenant_id or ""))
    inputs = " ".join((run.operator, run.run_id, *_list_texts(run.inputs)))
    yield from _put(
        run.workspace_id,
        (run.run_id, run.run_id, said, inputs),
        *(
            (each.action_id, each.run_id, f"{said} {read_proposal(each).label}", _describe(each))
            for each in staged
        ),
    )


def index_again(action: Action) -> Transaction[None]:
    """Replace the words of an action's content."""
    yield from lock(action.workspace_id)
    yield from _put(action.workspace_id, (action.action_id, action.run_id, "", _describe(action)))


def lock(workspace_id: WorkspaceId) -> Transaction[None]:
    """Wait for any writer of words of the workspace before the content is read that they are made of."""
    yield statements.lock_search_texts(workspace_id=workspace_id)


def _put(workspace_id: WorkspaceId, *rows: tuple[str, str, str, str]) -> Transaction[None]:
    cut = [[*ids, about[:MAX_CHARS], body[:MAX_CHARS]] for *ids, about, body in rows]
    yield statements.put_search_texts(workspace_id=workspace_id, rows=msgspec.json.encode(cut).decode())


def _describe(action: Action) -> str:
    effect, view = action.effect, action.view
    said = (view.label, view.noun, view.title, view.destination, view.summary)
    content = (effect.title, effect.subject, effect.preheader, effect.body, effect.link, effect.sender)
    return " ".join(dict.fromkeys((*said, *content, *effect.everyone)))


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _list_texts(each)


def find(workspace_ids: Sequence[str], text: str) -> Transaction[list[Row]]:
    """Return the newest rows (`item_id`, `run_id`) that have every word of a text, or one that begins with it."""
    words = split_words(text)
    if not words:
        return []
    places = msgspec.json.encode(dict.fromkeys(workspace_ids, 1)).decode()
    rows = yield statements.find_search_texts(words=" ".join(words), places=places, most=MOST_FOUND)
    return list(rows)


def narrow(found: Iterable[str] | None) -> dict[str, Any]:
    """The parameters of a list that holds only what a search found; None for everything."""
    wanted = msgspec.json.encode(dict.fromkeys(found or (), 1)).decode()
    return {"everything": int(found is None), "wanted": wanted}


def split_words(text: str) -> list[str]:
    """The words of a search, without accents, as both indexes have them."""
    plain = unicodedata.normalize("NFKD", text)
    bare = "".join(each for each in plain if not unicodedata.combining(each))
    return _WORD.findall(bare.lower())[:MOST_WORDS]
