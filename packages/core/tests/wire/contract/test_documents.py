"""The documents by which programs find the server: true, complete, and made from the same table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.support.contract.talk import KEYED, PUBLIC, SIGNUP
from tests.support.surfaces import BASE_URL, Surface

from assent.extensions.hooks import load_extensions
from assent.gate.transitions import TABLE
from assent.kernel.refusals import Reason
from assent.serving.web.shell import clients
from assent.tools.catalog import arrange, input_schema

ALL_TOOLS = arrange([tool for extension in load_extensions() for tool in extension.list_tools()])
"""The tools of a server, in the order of its list."""
ROOT = Path(__file__).resolve().parents[5]
SPEC = "https://chieflab.io/spec/v0.1"
DOCUMENTS = ("/.well-known/mcp.json", "/openapi.json", "/llms.txt", "/llms-full.txt")
GUIDES = ("/docs/quickstart", "/docs/closed-loop")


async def fetch(web: Surface, path: str) -> Any:
    response = await web.http.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/json")
    return response.json()


@pytest.mark.rule("E76", "E50")
async def test_the_metadata_says_where_how_and_what(web: Surface) -> None:
    metadata = await fetch(web, "/.well-known/mcp.json")

    assert metadata == await fetch(web, "/api/mcp")
    assert metadata["endpoint"] == f"{BASE_URL}/api/mcp"
    assert set(metadata["transports"]) == {"streamable-http", "stdio"}
    assert metadata["protocolVersions"] == [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ]
    assert isinstance(metadata["operators"], list)
    for operator in metadata["operators"]:
        assert set(operator) >= {"id", "label", "function", "primaryTool", "connectors", "status"}
    authentication = metadata["authentication"]
    assert authentication["prefixes"] == ["clp_live_", "clp_dev_"]
    assert authentication["signupTool"] == SIGNUP
    assert set(authentication["publicTools"]) == {PUBLIC, SIGNUP}
    assert [tool["name"] for tool in metadata["tools"]] == [tool.name for tool in ALL_TOOLS]


@pytest.mark.rule("E60")
async def test_the_contract_is_cited_with_its_version_and_address(web: Surface) -> None:
    metadata = await fetch(web, "/.well-known/mcp.json")

    assert metadata["spec"] == SPEC
    assert "v0.1" in metadata["specVersion"]
    assert SPEC.removeprefix("https://") in (ROOT / "README.md").read_text()
    assert SPEC in (await web.http.get("/llms.txt")).text
    assert SPEC in (await web.http.get("/openapi.json")).text


async def test_every_address_in_the_metadata_leads_somewhere(web: Surface) -> None:
    metadata = await fetch(web, "/.well-known/mcp.json")

    for url in (metadata["authentication"]["getKey"], metadata["endpoint"], *metadata["documents"].values()):
        assert url.startswith(BASE_URL)
        assert (await web.http.get(url.removeprefix(BASE_URL))).status_code == 200


# ── OpenAPI 3.1 ──────────────────────────────────────────────────────────────────────────────────

OPERATION_FIELDS = {
    "operationId",
    "summary",
    "description",
    "tags",
    "security",
    "requestBody",
    "responses",
    "parameters",
}


def resolve(document: Any, node: Any) -> Any:
    """Follow a local reference; any other would be broken."""
    if isinstance(node, dict) and "$ref" in node:
        assert set(node) == {"$ref"}
        assert node["$ref"].startswith("#/")
        found = document
        for part in node["$ref"][2:].split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        return resolve(document, found)
    return node


@pytest.mark.slow
async def test_the_rest_surface_is_described_in_valid_openapi(web: Surface) -> None:
    document = await fetch(web, "/openapi.json")

    assert set(document) <= {"openapi", "info", "servers", "paths", "components", "tags", "security"}
    assert re.fullmatch(r"3\.1\.\d+", document["openapi"])
    assert {"title", "version"} <= set(document["info"])
    assert set(document["info"].get("license", {"name": ""})) <= {"name", "identifier"}
    assert [server["url"] for server in document["servers"]] == [BASE_URL]
    schemes = document["components"]["securitySchemes"]
    ids, checked = set(), set()
    for path, item in document["paths"].items():
        assert re.fullmatch(r"/api/tools/[a-z_]+", path)
        (operation,) = item.values()
        assert set(item) == {"post"}
        assert set(operation) <= OPERATION_FIELDS
        ids.add(operation["operationId"])
        for requirement in operation["security"]:
            assert set(requirement) <= set(schemes)
        taken = resolve(document, operation["requestBody"]["content"]["application/json"]["schema"])
        assert operation["requestBody"]["required"] == bool(taken.get("required")), operation["operationId"]
        for body in (operation["requestBody"], *operation["responses"].values()):
            body = resolve(document, body)
            for media_type in body["content"].values():
                if (text := str(media_type["schema"])) not in checked:
                    jsonschema.Draft202012Validator.check_schema(resolve(document, media_type["schema"]))
                    checked.add(text)
        for status, response in operation["responses"].items():
            assert re.fullmatch(r"[1-5]\d\d|default", status)
            assert resolve(document, response)["description"]
    assert ids == {tool.name for tool in ALL_TOOLS}


async def test_the_description_says_who_needs_a_key(web: Surface) -> None:
    paths = (await fetch(web, "/openapi.json"))["paths"]

    for tool in ALL_TOOLS:
        security = paths[f"/api/tools/{tool.name}"]["post"]["security"]
        assert ({} in security) == tool.public


async def test_answers_are_as_described(web: Surface) -> None:
    document = await fetch(web, "/openapi.json")
    key = (await web.new_workspace()).api_key
    good = {"Authorization": f"Bearer {key}"}
    calls: tuple[tuple[str, dict[str, Any], dict[str, str]], ...] = (
        (PUBLIC, {}, {}),
        (KEYED, {}, good),
        (SIGNUP, {"email": "a@b.c"}, {}),
        (SIGNUP, {"email": "x"}, {}),
        (SIGNUP, {"email": 5, "x": 1}, {}),
        (KEYED, {}, {}),
        (PUBLIC, {}, {"Authorization": "Bearer wrong"}),
    )
    for name, arguments, headers in calls:
        response = await web.http.post(f"/api/tools/{name}", json=arguments, headers=headers)
        described = document["paths"][f"/api/tools/{name}"]["post"]["responses"][str(response.status_code)]
        schema = resolve(document, described)["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator(resolve(document, schema)).validate(response.json())


# ── for readers ──────────────────────────────────────────────────────────────────────────────────


async def test_agents_that_read_the_site_find_every_tool(web: Surface) -> None:
    llms = await web.http.get("/llms.txt")
    assert llms.headers["content-type"].startswith("text/plain")
    assert llms.text.startswith("# ")
    page = await web.http.get("/for-agents")
    assert page.headers["content-type"].startswith("text/html")
    for tool in ALL_TOOLS:
        assert tool.name in llms.text
        assert tool.name in page.text
    for reason in Reason:
        assert reason.value in page.text
    assert f"{BASE_URL}/api/mcp" in llms.text


@pytest.mark.parametrize("path", GUIDES)
async def test_a_guide_is_a_page_for_people_and_markdown_for_agents(web: Surface, path: str) -> None:
    page = await web.http.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
    asked = await web.http.get(path, headers={"Accept": "text/markdown, text/html;q=0.9"})
    file = await web.http.get(f"{path}.md")

    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["vary"] == asked.headers["vary"] == "Accept"
    assert asked.headers["content-type"] == file.headers["content-type"] == "text/markdown; charset=utf-8"
    assert asked.text == file.text
    assert file.text.startswith("# ") and "{base_url}" not in file.text
    assert page.text.count("<h1>") == 1 and page.text.count("<pre>") == file.text.count("\n```\n\n")
    links = {
        url.rstrip(".,") for url in re.findall(rf"{BASE_URL}(/[^\s)`;]*)", file.text) if "NAME" not in url
    }
    statuses = {link: (await web.http.get(link)).status_code for link in links}
    # The page of the memory asks to sign in first.
    assert {link: status for link, status in statuses.items() if status != 200} in ({}, {"/memory": 401})


async def test_the_guides_are_linked_where_agents_and_developers_look(web: Surface) -> None:
    index, page = (await web.http.get("/llms.txt")).text, (await web.http.get("/for-agents")).text

    for path in GUIDES:
        assert f"({BASE_URL}{path}.md)" in index
        assert f'href="{path}"' in page
    assert (await web.http.get("/docs/quickstart.txt")).status_code == 404
    assert (await web.http.get("/docs/none")).status_code == 404
    [claude, *_] = clients.http_snippets(BASE_URL, clients.PLACEHOLDER_KEY)
    assert claude.text in (await web.http.get("/docs/quickstart.md")).text


async def test_the_index_for_agents_has_the_usual_form_and_every_link_leads_somewhere(web: Surface) -> None:
    lines = (await web.http.get("/llms.txt")).text.splitlines()

    assert [lines[0][:2], lines[1], lines[2][:2]] == ["# ", "", "> "]
    assert [line for line in lines if line.startswith("## ")] == [
        "## Instructions",
        "## Documents",
        "## Tools",
    ]
    links = [
        re.fullmatch(r"- \[[^\]]+\]\(([^)]+)\): .+", line) for line in lines[lines.index("## Documents") :]
    ]
    addresses = {link[1] for link in links if link is not None}
    assert len(addresses) == 6 + len(ALL_TOOLS)
    pages = {address.partition("#")[0].removeprefix(BASE_URL) for address in addresses}
    texts = {page: await web.http.get(page) for page in pages}
    assert {page for page, text in texts.items() if text.status_code != 200} == set()
    anchors = {address.partition("#")[2] for address in addresses} - {""}
    assert {anchor for anchor in anchors if f'id="{anchor}"' not in texts["/for-agents"].text} == set()


async def test_one_text_has_every_argument_state_and_refusal_for_agents(web: Surface) -> None:
    response = await web.http.get("/llms-full.txt")
    begin, *tools = re.split(r"^### (?=\w)", response.text.partition("## Refusals")[0], flags=re.MULTILINE)

    assert response.headers["content-type"].startswith("text/plain")
    assert [tool.partition("\n")[0] for tool in tools] == [tool.name for tool in ALL_TOOLS]
    missing = [
        (tool.name, argument)
        for tool, section in zip(ALL_TOOLS, tools, strict=True)
        for argument in input_schema(tool.request).get("properties", {})
        if f"\n- `{argument}` (" not in section
    ]
    assert missing == []
    for (state, move), after in TABLE.items():
        befores, afters = ({str(each.status), str(each.execution)} for each in (state, after))
        assert any(f"| {one} | {move} | {two} |" in begin for one in befores for two in afters)
    assert [reason for reason in Reason if f"### `{reason}`\n" not in response.text] == []
    named = set(re.findall(r"\b(?:chieflab|workflow)_[a-z_]+", begin))
    assert named <= {tool.name for tool in ALL_TOOLS}


class TestUnderAnotherName:
    @pytest.fixture
    def changed_settings(self) -> dict[str, Any]:
        return {"base_url": "https://assent.example/"}

    async def test_documents_name_the_address_people_know(self, web: Surface) -> None:
        for path in (*DOCUMENTS, *GUIDES):
            text = (await web.http.get(path)).text
            assert "https://assent.example" in text
            assert "127.0.0.1" not in text
            assert "assent.example//" not in text
