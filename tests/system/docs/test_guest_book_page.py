"""The page about the guest book: the package, installed beside the core alone, works in a real server."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from packages.core.tests.system.review.test_owner_link import signed_in
from tests.support.actions.kit import EXECUTE
from tests.support.docs.pages import block_of, blocks_of
from tests.support.net.stub_server import StubServer, stub_server
from tests.support.processes.running import SECRETS, Serve, ask, eventually, free_port
from tests.support.review.kit import form, forms
from tests.support.wheel import ROOT
from tests.system.install.test_wheels import Environment, name_wheel

import assent

PAGE: Final = "guest-book.md"
PACKAGE: Final = ROOT / "examples/guestbook"
TOOL: Final = "acme_guestbook_entry"
ENTRY: Final = {"title": "Ada Lovelace", "body": "What a <fine> house."}
IMPORTED: Final = (
    "import sys; from assent.app import list_installed; from assent.settings.load import load_settings; "
    "list_installed(load_settings({}).settings); print('acme_guestbook' in sys.modules)"
)


def list_sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_every_block_of_the_page_is_executed_here_or_is_code_of_the_example() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == [
        *("sh", "toml", "sh", "sh"),
        *("toml", "python", "python", "python", "python", "python"),
    ]
    code = [path.read_text() for path in (PACKAGE / "pyproject.toml", *list_sources())]
    shown = [text for language, text in blocks_of(PAGE)[4:]]
    assert [text for text in shown if not any(text in each for each in code)] == []


def test_the_example_imports_the_public_api_alone() -> None:
    wrong = []
    for path in list_sources():
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found = [each.name for each in node.names if each.name.startswith("assent")]
                wrong += [name for name in found if name != "assent"]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "assent":
                wrong += [str(node.module)] if node.module != "assent.sdk" else []
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                wrong += [node.attr] if node.value.id == "assent" and node.attr not in assent.__all__ else []
    assert wrong == []


class Installation:
    """The environment with the example, the store of its server, and the bell that it rings."""

    def __init__(self, environment: Environment, database_url: str, bell: StubServer) -> None:
        self.environment = environment
        self.bell = bell
        self.port = free_port()
        self.settings = {
            "ASSENT_PORT": str(self.port),
            "ASSENT_DATABASE_URL": database_url,
            "ASSENT_ALLOW_HOSTS": "127.0.0.1",
            **SECRETS,
        }
        self.key = ""

    def read(self, command: str) -> Any:
        done = self.environment.run(*command.split(), "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def serve(self) -> Serve:
        program, name = block_of(PAGE, "sh", 1).split()
        assert name == "serve"
        command = (str(self.environment.programs / program),)
        return Serve(self.environment.data, self.settings, port=self.port, command=command)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return ask(self.port, tool, self.key, **arguments)


@pytest.fixture
def installation(
    tmp_path: Path, wheels: Path, own_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Installation]:
    environment = Environment(tmp_path)
    *command, folder = block_of(PAGE, "sh").split()
    assert command == ["pip", "install"]
    environment.install(f"{name_wheel(wheels, 'assent-core')}[postgres]", ROOT / folder)
    environment.data.mkdir(mode=0o700)
    with stub_server() as bell:
        made = Installation(environment, own_database_url, bell)
        for name, value in made.settings.items():
            monkeypatch.setenv(name, value)
        yield made


def approve(installation: Installation, browser: httpx.Client, run_id: str, action_id: str) -> None:
    base_url = f"http://localhost:{installation.port}"
    wanted = form(browser.get(f"{base_url}/runs/{run_id}").text, action_id, "approve")
    assert browser.post(base_url + wanted.address, data=wanted.fields).status_code == 303


@pytest.mark.slow
def test_the_guest_book_does_nothing_until_it_is_named_and_then_its_part_in_the_whole_loop(
    installation: Installation,
) -> None:
    run, (listing, doctor) = installation.environment.run, block_of(PAGE, "sh", 2).splitlines()
    assert run("python", "-c", IMPORTED).stdout.strip() == "False"
    assert run(*listing.split()).returncode == 2
    with installation.serve():
        installation.key = installation.read("assent keys create")["apiKey"]
        assert installation.call(TOOL, **ENTRY)["reason"] == "unknown_tool"

    settings = block_of(PAGE, "toml")
    (installation.environment.data / "assent.toml").write_text(settings)
    assert run("python", "-c", IMPORTED).stdout.strip() == "True"

    with installation.serve(), signed_in(installation.read("assent owner-link")["url"]) as browser:
        page, base_url = "/settings/notifications", f"http://localhost:{installation.port}"
        nonce = next(
            each.fields["nonce"] for each in forms(browser.get(base_url + page).text) if each.address == page
        )
        target = {"nonce": nonce, "kind": "doorbell", "address": installation.bell.url("/ring")}
        assert browser.post(base_url + page, data=target).status_code == 303

        staged = installation.call(TOOL, **ENTRY)
        action_id = staged["actions"][0]["id"]
        ring = json.loads(eventually(lambda: installation.bell.asked, "the bell rings")[0].body)
        assert ring["sound"] == tomllib.loads(settings)["extension"]["guestbook"]["sound"]
        assert ring["link"].endswith(staged["runId"])
        assert installation.call(EXECUTE, actionId=action_id)["reason"] == "requires_approval"
        assert installation.read(listing) == []
        told = run(*doctor.split())
        assert told.returncode == 0 and "acme-guestbook" in told.stdout, told.stdout

        approve(installation, browser, staged["runId"], action_id)
        done = installation.call(EXECUTE, actionId=action_id)
        assert installation.call(EXECUTE, actionId=action_id)["externalId"] == done["externalId"]

    with installation.serve(), signed_in(installation.read("assent owner-link")["url"]) as browser:
        (signed,) = installation.read(listing)
        assert (signed["guest"], signed["words"]) == (ENTRY["title"], ENTRY["body"])
        shown = browser.get(f"http://localhost:{installation.port}/guestbook").text
        assert shown.count("What a &lt;fine&gt; house.") == 1 and ENTRY["title"] in shown
        erasing = ("assent", "erase", "person", "ada@example.org", "--also", ENTRY["title"], "--yes")
        assert run(*erasing).returncode == 0
        assert installation.read(listing) == []
