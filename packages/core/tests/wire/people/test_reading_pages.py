"""Pages that say something: the start page, what agents read, and the files they refer to."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.catalog import ALL_TOOLS
from tests.support.people.fixtures import Site
from tests.support.surfaces import BASE_URL

from assent.kernel.refusals import MEANINGS, Reason
from assent.kernel.toolsets import DEFAULT_TOOLSETS
from assent.serving.instructions import SPEC_URL, instructions
from assent.serving.web.shell import clients
from assent_launch.words import WORDS

INSTRUCTIONS = instructions(DEFAULT_TOOLSETS, words=WORDS)


async def test_the_start_page_says_what_runs_here_and_how_to_use_it(site: Site) -> None:
    page = (await site.browser.get("/")).text

    assert "You say yes first." in page
    assert f"{BASE_URL}/api/mcp" in page
    for target in ("/sign-in", "/get-key", "/for-agents", SPEC_URL):
        assert f'href="{target}"' in page


async def test_the_start_page_needs_no_database(site: Site) -> None:
    await site.store.close()

    assert (await site.browser.get("/")).status_code == 200


async def test_agents_and_people_read_the_same_words(site: Site) -> None:
    page = html.unescape((await site.browser.get("/for-agents")).text)

    assert INSTRUCTIONS in page
    for tool in ALL_TOOLS:
        assert f'id="{tool.name}"' in page
        assert tool.description in page
    for reason in Reason:
        assert f'id="{reason.value}"' in page
        assert MEANINGS[reason].stop_rule in page
    assert not re.search(r"\{[a-z]\w*\}", page.replace("/api/tools/{name}", ""))


TYPES = {
    "css": "text/css",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
    "woff2": "font/woff2",
}
"""Of the files that a page names."""


async def test_files_have_the_hash_of_their_content_in_their_name_and_are_kept_for_ever(site: Site) -> None:
    page = (await site.browser.get("/")).text
    paths = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page))

    assert {path.rpartition(".")[2] for path in paths} == set(TYPES)
    for path in paths:
        answer = await site.browser.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert re.fullmatch(r"/static/[\w-]+\.[0-9a-f]{16}\.\w+", path)
        assert answer.headers["content-type"].partition(";")[0] == TYPES[path.rpartition(".")[2]]


async def test_nothing_else_can_be_read_below_the_files(site: Site) -> None:
    for name in ("assent.css", "../pages.py", "..%2f..%2fpages.py", "%2e%2e/templates/layout.html"):
        assert (await site.browser.get(f"/static/{name}")).status_code == 404


async def test_a_page_fits_into_sixty_kilobytes(site: Site) -> None:
    for path in ("/", "/for-agents", "/get-key"):
        assert len((await site.browser.get(path)).content) < 60_000


async def test_snippets_hold_the_address_and_the_key_as_a_client_reads_them(site: Site) -> None:
    import json
    import shlex

    claude, cursor, vs_code, other = clients.http_snippets("http://127.0.0.1:8080", "clp_live_x")
    remote = {"url": "http://127.0.0.1:8080/api/mcp", "headers": {"Authorization": "Bearer clp_live_x"}}

    assert shlex.split(claude.text)[-2:] == ["--header", "Authorization: Bearer clp_live_x"]
    assert json.loads(cursor.text) == {"mcpServers": {"assent": remote}}
    assert json.loads(vs_code.text) == {"servers": {"assent": {"type": "http", **remote}}}
    assert other.text.splitlines() == [remote["url"], "Authorization: Bearer clp_live_x"]

    def read_stdio(key: str | None) -> Any:
        (snippet,) = clients.stdio_snippets(site.services, key)
        return json.loads(snippet.text)["mcpServers"]["assent"]

    here = read_stdio("clp_live_x")
    assert Path(here["command"]).is_absolute()
    assert "--data-dir" in here["args"]
    assert here["env"] == {"ASSENT_API_KEY": "clp_live_x"}
    assert "env" not in read_stdio(None)
    # A reader at another machine learns nothing of this one's folders.
    site.pages = "https://assent.example.com"
    assert read_stdio(None) == {"command": "assent", "args": ["stdio"]}


async def test_no_process_is_offered_whose_client_would_need_the_secrets_of_the_server(site: Site) -> None:
    services = replace(site.services, links=replace(site.services.links, client_entry=None))
    assert clients.stdio_snippets(services, "clp_live_x") == ()


def test_the_template_engine_is_loaded_with_the_first_page_only() -> None:
    program = "import sys, assent.serving.web.shell.pages; sys.exit('jinja2' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
