"""Which installed packages extend the server, and what they may bring."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import Response
from tests.support.docs.pages import block_of
from tests.support.surfaces import BASE_URL, ManualClock, settings_for

from assent.app import App, show_settings
from assent.cli.commands import build_parser
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people
from assent.engine.people.people import Person, Role
from assent.extensions.hooks import BadExtension, load_extensions
from assent.jobs.kinds import job_kinds
from assent.processes.serve import Surfaces, check_names
from assent.serving.web.shell.console import Screen, Visit, arrange_entries
from assent.serving.web.shell.rendering import NAVIGATION, NavigationEntry
from assent.settings.load import SettingsError

MODULE = """
from assent.sdk import Command, Extension

def greet(session):
    \"\"\"Say hello.\"\"\"
    session.give({"hello": True}, "hello")

EXTENSION = Extension(name="acme", list_commands=lambda: (Command(name="greet", run=greet),))
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages beside ours."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def install(site: Path, distribution: str, source: str) -> str:
    """Install a package with an extension as pip does, and return the name of its module."""
    module = distribution.replace("-", "_")
    (site / f"{module}.py").write_text(source)
    metadata = site / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[assent.extensions]\nacme = {module}:EXTENSION\n")
    return module


def test_our_extensions_load_without_being_named() -> None:
    assert {each.name for each in load_extensions()} >= {"launch", "wrap", "notify", "conform"}


def test_declarations_load_without_what_they_declare() -> None:
    source = "import sys; from assent.extensions.hooks import load_extensions; load_extensions(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    loaded = set(done.stdout.split())
    assert "assent_launch.extension" in loaded
    assert not loaded & {"httpx", "mcp", "starlette", "typer", "assent.engine"}


def test_an_installed_package_does_not_load_until_the_settings_name_it(site: Path) -> None:
    module = install(site, "acme-unnamed", MODULE)
    load_extensions.cache_clear()

    assert "acme" not in {each.name for each in load_extensions()}
    assert module not in sys.modules

    assert "acme" in {each.name for each in load_extensions(("acme-unnamed",))}


@pytest.mark.parametrize(
    ("distribution", "source", "why"),
    [
        ("acme-absent", None, "not installed"),
        ("acme-broken", "1 / 0", "ZeroDivisionError"),
        ("acme-other", "EXTENSION = 5", "is int"),
        ("acme-twin", MODULE.replace('"acme"', '"launch"'), "launch"),
        ("acme-inside", MODULE.replace("list_commands", "list_subscribers"), "subscribes"),
    ],
)
def test_a_named_package_that_cannot_be_used_is_refused_with_the_reason(
    site: Path, distribution: str, source: str | None, why: str
) -> None:
    if source is not None:
        install(site, distribution, source)
    with pytest.raises(BadExtension, match=why):
        load_extensions((distribution,))


def test_a_command_of_a_package_works_once_the_settings_name_it(site: Path, tmp_path: Path) -> None:
    install(site, "acme-greeting", MODULE)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    path = os.pathsep.join([str(site), *sys.path])

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "assent", *words, "--data-dir", str(data)]
        env = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)

    assert run("greet").returncode == 2
    (data / "assent.toml").write_text('extensions = ["acme-greeting"]\n')
    assert run("greet", "--json").stdout == '{"hello":true}\n'
    install(site, "acme-serving", MODULE.replace('"greet"', '"serve"'))
    (data / "assent.toml").write_text('extensions = ["acme-serving"]\n')
    told = run("serve")
    assert told.returncode == 1 and "the extension acme has the command serve of the server" in told.stderr
    (data / "assent.toml").write_text('extensions = ["acme-nowhere"]\n')
    told = run("doctor")
    assert told.returncode == 1 and "acme-nowhere is not installed" in told.stdout


def test_an_entry_of_an_extension_is_the_last_of_its_group_and_a_new_group_is_the_last() -> None:
    async def show(visit: Visit) -> Response:
        return visit.page("acme.html")

    known = NavigationEntry("acme", "/acme", "Acme", "runs", "Set up")
    new = NavigationEntry("more", "/more", "More", "runs", "Acme")
    added = [Screen(each.href, show, each.name, entry=each) for each in (new, known)]

    names = [each.name for each in arrange_entries(added)]

    assert names[-1] == "more"
    assert names.index("acme") == names.index("settings") + 1
    assert sorted(names) == sorted([*(each.name for each in NAVIGATION), "acme", "more"])


PAGE = "extensions.md"
FILES = {
    "migrations/sqlite/0001_entries.sql": block_of(PAGE, "sql", 0),
    "migrations/postgres/0001_entries.sql": block_of(PAGE, "sql", 0),
    "statements/acme.sql": block_of(PAGE, "sql", 1),
    "templates/acme.html": block_of(PAGE, "html"),
}
SETTINGS = tomllib.loads(block_of(PAGE, "toml", 1))


@pytest.fixture
async def extended(site: Path, database_url: str, tmp_path: Path) -> AsyncIterator[App]:
    """A server with the package of the page, as the settings of the page name it."""
    [name] = SETTINGS["extensions"]
    module = install(site, name, block_of(PAGE, "python"))
    assert block_of(PAGE, "toml", 0).splitlines()[1] == f'acme = "{module}:EXTENSION"'
    for path, text in FILES.items():
        (site / "acme" / path).parent.mkdir(parents=True, exist_ok=True)
        (site / "acme" / path).write_text(text)
    load_extensions.cache_clear()
    settings = settings_for(database_url, tmp_path, extensions=(name,), sections=SETTINGS["extension"])
    app = App(settings, clock=ManualClock())
    await app.prepare()
    yield app
    await app.close()
    sys.modules.pop(module)
    load_extensions.cache_clear()


async def test_the_package_of_the_page_brings_each_part_once_the_settings_name_it(extended: App) -> None:
    now_ms = extended.clock.now_ms()
    entropy = extended.services.entropy(people.ENTROPY_BYTES)
    ada = Person("ada", "Ada", Role.MEMBER)
    token = await extended.store.write(
        lambda: members.invite(ada, (LOCAL_WORKSPACE,), entropy, now_ms, by="test")
    )
    wire = httpx.ASGITransport(app=Surfaces(extended).site(), client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=wire, base_url=BASE_URL) as browser:
        assert (await browser.post(f"/sign-in/{token}", data={})).status_code == 303
        page = await browser.get("/acme")

    assert page.status_code == 200
    assert "0 entries" in page.text and "Acme ledger" in page.text
    assert "acme_tidy" in job_kinds(extended)
    assert extended.services.notifiers["pager"].mask("12345") == "…45"
    [extension] = [each for each in extended.installed if each.name == "acme"]
    [check] = extension.check(show_settings(extended.settings)["acme"])
    assert check.detail == SETTINGS["extension"]["acme"]["gateway"]
    assert [each.name for each in extension.list_commands()] == ["acme greet"]


@pytest.mark.parametrize(
    ("sections", "why"),
    [
        ({"acme": {}}, "no extension is called acme"),
        ({"notify": {"slack_url": "https://slack.example"}}, "no extension is called notify"),
        ({"notify": 5}, "does not work"),
    ],
)
def test_a_section_that_no_extension_declares_is_refused(sections: Any, why: str, tmp_path: Path) -> None:
    settings = settings_for(f"sqlite:///{tmp_path}/assent.db", tmp_path, sections=sections)
    with pytest.raises(SettingsError, match=why):
        show_settings(settings)


TAKEN = """
from types import SimpleNamespace as Made
from assent.sdk import Command, Extension

def greet(session):
    \"\"\"Say hello.\"\"\"

EXTENSION = Extension(name="{name}", {part})
"""
COMMAND = 'list_commands=lambda: (Command(name="{}", run=greet),)'
SCREEN = 'list_screens=lambda: (Made(path="{}"),)'
TOOL = 'list_tools=lambda: (Made(name="{}", aliases={}, legacy_names=()),)'
JOB = 'make_jobs=lambda services: {{"{}": None}}'
NOTIFIER = 'make_notifiers=lambda settings: (Made(kind="{}"),)'
TYPE = 'list_types=lambda: (Made(id="{}", channel="{}", verb="{}"),)'
CONNECTOR = 'list_connectors=lambda: (Made(id="{}"),)'
COMPONENT = 'list_components=lambda: (Made(name="{}", prefix="{}"),)'


@pytest.mark.parametrize(
    ("part", "name", "owner"),
    [
        (SCREEN.format("/inbox"), "/inbox", "the server"),
        (SCREEN.format("/sign-in/{word}"), "/sign-in/passkey", "the server"),
        (SCREEN.format("/{anything}"), "/for-agents", "the server"),
        (SCREEN.format("/runs/{rest:path}"), "/runs", "the server"),
        (SCREEN.format("/memory"), "/memory", "the extension launch"),
        (TOOL.format("chieflab_approve_action", ()), "chieflab_approve_action", "the server"),
        (TOOL.format("acme_go", ("chieflab_approve_action",)), "chieflab_approve_action", "the server"),
        (TOOL.format("chiefmo_approve_action", ()), "chiefmo_approve_action", "the server"),
        (JOB.format("remind_people"), "remind_people", "the server"),
        (NOTIFIER.format("email"), "email", "the server"),
        (NOTIFIER.format("telegram"), "telegram", "the extension notify"),
        (TYPE.format("acme.go", "workflow", "confirm"), "workflow confirm", "the server"),
        (CONNECTOR.format("manual"), "manual", "the extension launch"),
        (COMPONENT.format("acme", "wrap_"), "wrap_", "the extension wrap"),
    ],
)
def test_a_package_that_would_replace_a_part_of_another_is_refused_with_both_names(
    site: Path, tmp_path: Path, part: str, name: str, owner: str
) -> None:
    module = install(site, "acme-taking", TAKEN.replace("{name}", "acme").replace("{part}", part))
    load_extensions.cache_clear()
    settings = settings_for(f"sqlite:///{tmp_path}/assent.db", tmp_path, extensions=("acme-taking",))
    try:
        with pytest.raises(SettingsError) as refused:
            check_names(App(settings))
    finally:
        sys.modules.pop(module, None)
        load_extensions.cache_clear()
    assert "the extension acme" in str(refused.value)
    assert name in str(refused.value) and owner in str(refused.value)


@pytest.mark.parametrize("command", ["serve", "audit", "serve now", "wrap", "conform"])
def test_a_package_that_would_replace_a_command_is_refused_with_both_names(site: Path, command: str) -> None:
    part = COMMAND.format(command)
    module = install(site, "acme-taking", TAKEN.replace("{name}", "acme").replace("{part}", part))
    load_extensions.cache_clear()
    try:
        with pytest.raises(BadExtension, match="the extension acme has the command"):
            build_parser(("acme-taking",))
    finally:
        sys.modules.pop(module, None)
        load_extensions.cache_clear()


async def test_our_extensions_take_no_part_of_each_other(extended: App) -> None:
    check_names(extended)


def test_a_package_of_ours_or_one_in_another_spelling_is_loaded_once() -> None:
    assert load_extensions(("assent_launch", "Assent.Wrap")) == load_extensions()
