"""Each distribution is installed beside what it needs and nothing else, does its part, and leaves nothing behind."""

from __future__ import annotations

import http.server
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import pytest
from tests.support.processes.running import UNLIMITED, Serve, StdioClient, free_port
from tests.support.wheel import ROOT, run_uv

from assent.kernel.reasons import Reason

LIST: Final = (
    "from assent.extensions.hooks import load_extensions\nprint(*(each.name for each in load_extensions()))"
)
CHECK: Final = (
    *("conform", "--profile", "core", "--allow-effects", "--json"),
    *("--", "assent", "stdio", "--operators", "assent_conform.staging"),
)


OPERATOR: Final = """
import assent

ledger = assent.Operator("ledger", label="Ledger", function="Writes into a ledger once approved.")


@ledger.effect(risk="low")
def book(ctx: assent.Context, text: str) -> assent.Receipt:
    \"\"\"Book a text. USE WHEN the user asks for it.\"\"\"
    return assent.Receipt(f"booked {text}")
"""
SETTINGS: Final = """
operators = ["{operator}"]
allow_hosts = ["127.0.0.1"]

[effect.ping]
url = "{provider}/pings"
description = "Ping the service. USE WHEN the user asks for it."
risk = "low"

[effect.ping.arguments]
type = "object"
required = ["text"]
properties = {{ text = {{ type = "string", maxLength = 40 }} }}

[effect.ping.result]
id = "id"
"""
WORKFLOW: Final = {
    "id": "look-around",
    "name": "Look around",
    "description": "One step.",
    "version": "1.0.0",
    "steps": [{"id": "look", "title": "Look", "prompt": "Look around."}],
}
TOOL: Final = re.compile(r"\b(?:chieflab|workflow)_[a-z_]+")
LINK: Final = re.compile(r'href="(/[^"?#]*)"')
NOTES: Final = "Looked at it, and wrote down what there was to see."
PUBLIC: Final = ("/", "/for-agents", "/get-key", "/llms.txt", "/llms-full.txt", "/.well-known/mcp.json")
CONSOLE: Final = ("/inbox", "/start", "/connectors", "/settings", "/settings/workspace")
PURE: Final = ("gate", "kernel", "present", "workflow")
ABSENT: Final = ("/results", "/memory", "/docs/quickstart", "/docs/closed-loop")


class Environment:
    """One environment and the commands in it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.data = folder / "environment", folder / "data"
        self.programs = self._folder / "bin"
        run_uv("venv", self._folder)

    def install(self, *wheels: Path | str) -> None:
        run_uv(
            *("pip", "install", "--python", self._folder, "--constraint", ROOT / "requirements-dev.lock"),
            *wheels,
        )
        run_uv("pip", "check", "--python", self._folder)

    def uninstall(self, distribution: str) -> None:
        run_uv("pip", "uninstall", "--python", self._folder, distribution)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        own = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "ASSENT_DATA_DIR": str(self.data),
            "ASSENT_PORT": str(free_port()),  # `doctor` fails where another server of this machine listens
        }
        return subprocess.run(
            [self.programs / words[0], *words[1:]],
            env=os.environ | own,
            capture_output=True,
            text=True,
            check=False,
        )

    def list_files(self) -> set[str]:
        files = (path for path in self._folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
        return {path.relative_to(self._folder).as_posix() for path in files}


def name_wheel(wheels: Path, distribution: str) -> Path:
    (found,) = wheels.glob(f"{distribution.replace('-', '_')}-*.whl")
    return found


class Provider(http.server.BaseHTTPRequestHandler):
    """A service that takes every request."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"id": "ping-1"}')

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@contextmanager
def serve_provider() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def write_settings(data: Path, provider: str) -> None:
    data.mkdir(mode=0o700, exist_ok=True)
    (data / "workflows").mkdir()
    (data / "workflows/look-around.json").write_text(json.dumps(WORKFLOW))
    operator = data / "ledger_operator.py"
    operator.write_text(OPERATOR)
    (data / "assent.toml").write_text(SETTINGS.format(operator=operator, provider=provider))


def check_texts(agent: StdioClient, pages: httpx.Client) -> None:
    """Every tool that a text names is in the list."""
    begun = agent.ask(
        "initialize",
        {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    )
    listed = {each["name"] for each in pages.get("/.well-known/mcp.json").json()["tools"]}
    texts = [
        begun["result"]["instructions"],
        *(str(agent.call(tool)) for tool in ("chieflab_help", "chieflab_status", "workflow_list")),
        *(pages.get(path).text for path in PUBLIC),
    ]
    named = {name for text in texts for name in TOOL.findall(text)} - {each.value for each in Reason}
    assert "chieflab_status" in named
    assert named - listed == set()


def check_pages(environment: Environment, pages: httpx.Client) -> None:
    """No page links to one that is absent."""
    made = environment.run("assent", "owner-link", "--json")
    pages.post(
        urlsplit(json.loads(made.stdout)["url"]).path,
        data={"name": ""},
        headers={"Origin": str(pages.base_url)},
    )
    linked = {path for page in (*PUBLIC, *CONSOLE) for path in LINK.findall(pages.get(page).text)}
    answers = {path: pages.get(path).status_code for path in (*CONSOLE, *linked)}
    assert {path: status for path, status in answers.items() if status != 200} == {}
    assert {pages.get(path).status_code for path in ABSENT} == {404}


def check_gate(agent: StdioClient) -> None:
    for tool, proof in (("ledger_book", "booked it"), ("ping_request", "ping-1")):
        (action,) = agent.call(tool, text="it")["actions"]
        assert (
            agent.call("chieflab_execute_approved_action", actionId=action["id"])["reason"]
            == "requires_approval"
        )
        agent.call("chieflab_approve_action", actionId=action["id"], digest=action["digest"], send=True)
        done = agent.call("chieflab_get_action", actionId=action["id"])
        assert (done["status"], done["externalId"]) == ("executed", proof)


def check_workflow(agent: StdioClient) -> None:
    at = agent.call("workflow_start", workflowId=WORKFLOW["id"])
    tokens = {name: at[name] for name in ("stateToken", "ackToken")}
    assert agent.call("workflow_advance", **tokens, notesMarkdown=NOTES)["isComplete"] is True


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path)


@pytest.mark.slow
def test_the_core_alone_gates_functions_requests_and_steps_and_names_nothing_that_is_absent(
    environment: Environment, wheels: Path
) -> None:
    environment.install(name_wheel(wheels, "assent-core"))
    assert environment.run("python", "-c", LIST).stdout.split() == []
    assert environment.run("assent", "doctor").returncode == 0
    demo = environment.run("assent", "demo")
    assert (demo.returncode, demo.stdout) == (0, "It happened once.\n"), demo.stderr
    command = (str(environment.programs / "assent"),)
    with serve_provider() as provider:
        write_settings(environment.data, provider)
        with (
            Serve(environment.data, UNLIMITED, command=command) as server,
            httpx.Client(base_url=server.base_url, follow_redirects=True) as pages,
            StdioClient(environment.data, UNLIMITED, command=command) as agent,
        ):
            check_texts(agent, pages)
            check_gate(agent)
            check_workflow(agent)
            check_pages(environment, pages)
        assert "Traceback" not in server.log + agent.log
    environment.uninstall("assent-core")
    assert [path for path in environment.list_files() if "assent" in path] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distribution", "command"),
    [
        ("assent-launch", ("doctor",)),
        ("assent-wrap", ("wrap", "--help")),
        ("assent-notify", ("doctor",)),
        ("assent-conform", CHECK),
    ],
)
def test_an_extension_beside_the_core_does_its_part_and_leaves_the_core_as_it_was(
    environment: Environment, wheels: Path, distribution: str, command: tuple[str, ...]
) -> None:
    environment.install(name_wheel(wheels, "assent-core"))
    before = environment.list_files()
    environment.install(name_wheel(wheels, distribution))
    assert environment.run("python", "-c", LIST).stdout.split() == [distribution.removeprefix("assent-")]
    done = environment.run("assent", *command)
    assert done.returncode == 0, done.stdout + done.stderr
    environment.uninstall(distribution)
    assert environment.list_files() == before
    assert environment.run("python", "-c", LIST).stdout.split() == []


@pytest.mark.slow
def test_unit_and_store_tests_of_the_core_pass_beside_the_testing_kit_alone(
    environment: Environment, wheels: Path
) -> None:
    ours = [name_wheel(wheels, distribution) for distribution in ("assent-core", "assent-conform")]
    environment.install(*ours, "pytest", "hypothesis", "asyncpg")
    assert environment.run("python", "-c", LIST).stdout.split() == ["conform"]
    folders = [str(ROOT / "packages/core/tests" / kind) for kind in ("unit", "store")]
    # Tests of a pure package or of a pooler do not depend on which distributions are here: the import contracts hold
    # that. Their modules are still collected, so they import nothing that is absent.
    quick = ["-m", "not slow and not hypothesis", "-k", "not postgres and not pooler"]
    quick += [f"--deselect=packages/core/tests/unit/{each}" for each in PURE]
    done = environment.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *quick, *folders)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_what_people_install_has_every_part_and_both_commands(environment: Environment, wheels: Path) -> None:
    environment.install(*wheels.glob("*.whl"))
    assert environment.run("python", "-c", LIST).stdout.split() == ["launch", "wrap", "notify", "conform"]
    for command in ("assent", "assent-gate"):
        assert environment.run(command, "doctor").returncode == 0
    environment.uninstall("assent-gate")
    assert [path for path in environment.list_files() if "assent_gate" in path] == []
