"""`examples/published_file` in a folder: written once, never over another page, read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, Gate
from tests.support.examples.fixtures import OpenExample

TOOL = "acme_site_publish"
HTML = "<!doctype html>\n<title>Hello</title>\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "public"
    made.mkdir()
    monkeypatch.setenv("SITE_FOLDER", str(made))
    monkeypatch.setenv("SITE_URL", "https://site.example")
    return made


def pages(folder: Path) -> dict[str, str]:
    return {page.name: page.read_text() for page in folder.iterdir()}


async def approve(gate: Gate) -> str:
    staged = await gate.done(TOOL, slug="hello", html=HTML)
    action_id: str = staged["actions"][0]["id"]
    await gate.done(APPROVE, actionId=action_id)
    return action_id


async def test_an_approved_page_is_written_and_its_address_given(
    open_example: OpenExample, folder: Path
) -> None:
    gate = await open_example("published_file/published_file.py")
    action_id = await approve(gate)
    assert pages(folder) == {}
    done = await gate.done(EXECUTE, actionId=action_id)
    assert (done["externalId"], done["externalUrl"]) == ("hello.html", "https://site.example/hello.html")
    assert pages(folder) == {"hello.html": HTML}


async def test_a_page_with_other_content_is_not_overwritten(open_example: OpenExample, folder: Path) -> None:
    (folder / "hello.html").write_text("older")
    gate = await open_example("published_file/published_file.py")
    action_id = await approve(gate)
    assert (await gate.denied(EXECUTE, actionId=action_id))["reason"] == "connector_failed"
    assert (folder / "hello.html").read_text() == "older"


async def test_after_the_process_died_the_page_is_there_once(open_example: OpenExample, folder: Path) -> None:
    gate = await open_example("published_file/published_file.py")
    action_id = await approve(gate)
    await gate.claim(action_id)
    gate.clock.advance(hours=1)
    await gate.run_jobs()
    assert (await gate.record(action_id))["externalId"] == "hello.html"
    assert pages(folder) == {"hello.html": HTML}


async def test_a_name_that_leaves_the_folder_is_not_staged(open_example: OpenExample, folder: Path) -> None:
    gate = await open_example("published_file/published_file.py")
    for slug in ("../hello", "a/b", "", "Hello"):
        refused = await gate.denied(TOOL, slug=slug, html=HTML)
        assert [problem["path"] for problem in refused["problems"]] == ["slug"]
