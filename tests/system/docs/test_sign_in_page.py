"""The page about signing in: its people can be applied, its mail server mails a link, its issuer signs people in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.cli.fixtures import Assent, assent, bare_environment, data_dir  # noqa: F401 - fixtures
from tests.support.connectors.mail_server import Inbox, mail_server
from tests.support.docs.pages import DOCS, block_of, blocks_of
from tests.support.people.oidc_kit import ANN, OidcServer, running_provider
from tests.support.review.kit import Server, path_of
from tests.support.sqlite_files import new_sqlite

from assent.cli.people import EXAMPLE, PeopleFile
from assent.engine.people.members import change
from assent.engine.people.people import OWNER, Person
from assent.settings.load import load_settings
from assent.settings.table import TABLE

PAGE = "sign-in.md"
LINK = re.compile(r"http\S+/sign-in/[\w-]{54}")


def settings_of(position: int, tmp_path: Path, **changed: str) -> dict[str, Any]:
    """The settings of a block, as the loader reads them, with the addresses of the test."""
    text = block_of(PAGE, "toml", position)
    for before, after in changed.items():
        assert f"{before} = " in text
        text = re.sub(rf'^{before} = ".*"$', f'{before} = "{after}"', text, flags=re.MULTILINE)
    file = tmp_path / "assent.toml"
    file.write_text(text)
    loaded = load_settings({"config": str(file)}, {"HOME": str(tmp_path)})
    named = {name for name, origin in loaded.sources.items() if origin.startswith("file ")}
    return {name: value for name, value in msgspec.structs.asdict(loaded.settings).items() if name in named}


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["toml", "sh", "toml", "toml"]


def test_the_page_names_every_setting_of_the_issuer() -> None:
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    assert [row.name for row in TABLE if row.name.startswith("oidc_") and row.name not in text] == []


def test_the_people_of_the_page_can_be_applied(
    assent: Assent,  # noqa: F811
    tmp_path: Path,
    bare_environment: pytest.MonkeyPatch,  # noqa: F811
) -> None:
    bare_environment.chdir(tmp_path)
    Path("people.toml").write_text(block_of(PAGE, "toml"))
    program, *words = block_of(PAGE, "sh").split()
    assert program == "assent"
    assert assent(*words).code == 0
    listed = assent("people", "list", "--json").data["people"]
    assert sorted((each["name"], each["role"]) for each in listed) == [
        ("Ada Lovelace", "owner"),
        ("Grace Hopper", "member"),
    ]


def test_the_example_of_the_error_messages_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "people.toml"
    file.write_text(EXAMPLE)
    assert [each.name for each in PeopleFile(file).entries] == ["Grace Hopper"]


async def test_the_mail_server_of_the_page_mails_a_link_that_signs_in(tmp_path: Path) -> None:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        given = settings_of(1, tmp_path, smtp_url=f"smtp://127.0.0.1:{port}")
        server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, **given)
        try:
            await server.owner()
            me = Person(OWNER, "Ada", email="ada@example.org")
            await server.app.store.write(lambda: change(me, (), server.clock.now_ms(), by="test"))
            browser = server.browser()
            assert "Mail me a link" in (await browser.get("/sign-in")).text
            await browser.post("/sign-in", data={"email": "ada@example.org"})
            await server.run_jobs()
            found = LINK.search(inbox.message().get_content())
            assert found is not None
            assert (await browser.post(path_of(found[0]))).status_code == 303
        finally:
            await server.close()


@pytest.mark.slow
async def test_the_issuer_of_the_page_signs_its_people_in(tmp_path: Path) -> None:
    with running_provider() as provider:
        given = settings_of(2, tmp_path, oidc_issuer=provider.url)
        server = OidcServer(new_sqlite(tmp_path / "assent.db"), tmp_path, provider, **given)
        try:
            provider.knows("ann", **ANN)
            provider.knows("bob", name="Bob", groups=["assent-admins"])
            assert "Example ID" in (await server.browser().get("/sign-in")).text
            for subject, sees_people in (("ann", 403), ("bob", 200)):
                browser = await server.sign_in(subject)
                assert (await browser.get("/settings/people")).status_code == sees_people
        finally:
            await server.close()
