"""Tries to get something published without a person, against a server with the policy `people`.

    python examples/break_the_gate.py

Starts a server of its own, lets an agent prepare a post, and plays what such an agent could try: its key, the link,
every tool, a stolen cookie, a page on another port, a claimed sign-up, a server of its own, a shell under another user.
Prints what each attempt got. Exits with 1 if anything was published.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

ASSENT = [sys.executable, "-m", "assent"]
SECONDS = 60.0
FORM = re.compile(r'<form[^>]*action="([^"]+/approve)"[^>]*>(.*?)</form>', re.DOTALL)
FIELD = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


class Server:
    """A server with its data, and the post that waits in it."""

    def __init__(self, folder: Path, policy: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://localhost:{self.port}"
        self.data = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ASSENT_")},
            "ASSENT_DATA_DIR": str(folder),
            "ASSENT_PORT": str(self.port),
            "ASSENT_POLICY": policy,
            "ASSENT_RATE_LIMIT_PER_MINUTE": "100000",
            "ASSENT_PAGE_LIMIT_PER_MINUTE": "100000",
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.key = ""
        self.staged: dict[str, Any] = {}

    def start(self) -> None:
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(
            [*ASSENT, "serve"], env=self.environment, stdin=quiet, stdout=quiet, stderr=quiet
        )
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/readyz").status_code == 200:
                    self.key = self.run("keys", "create")["apiKey"]
                    return
            threading.Event().wait(0.1)
        raise SystemExit("The server did not start.")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def run(self, *words: str) -> dict[str, Any]:
        done = subprocess.run(
            [*ASSENT, *words, "--json"], env=self.environment, capture_output=True, text=True, check=True
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def call(self, tool: str, arguments: dict[str, Any], key: str | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        answer = httpx.post(f"{self.url}/api/tools/{tool}", json=arguments, headers=headers, timeout=SECONDS)
        found: dict[str, Any] = answer.json()
        return found

    def prepare(self) -> None:
        """Let the agent prepare a post for the workspace's own site, which needs no account."""
        self.staged = self.call(
            "chieflab_post", {"channel": "site", "body": "An agent wants this to go out."}
        )
        if not self.staged.get("ok"):
            raise SystemExit(f"Nothing was prepared: {self.staged}")

    @property
    def action_id(self) -> str:
        found: str = self.staged["actions"][0]["id"]
        return found

    def record(self) -> dict[str, Any]:
        return self.call("chieflab_get_action", {"actionId": self.action_id})

    def sign_in(self) -> httpx.Client:
        """A person's browser that is signed in."""
        browser = self.browser()
        browser.post(self.run("owner-link")["url"])
        return browser

    def browser(self) -> httpx.Client:
        headers = {"Origin": self.url, "Sec-Fetch-Site": "same-origin"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=SECONDS)


def press_approve(server: Server, browser: httpx.Client) -> str:
    """Press the button of the review page, and send what a confirm page asks for without its key."""
    page = browser.get(f"/runs/{server.staged['runId']}")
    found = FORM.search(page.text)
    if found is None:
        return f"no button (HTTP {page.status_code})"
    fields = dict(FIELD.findall(found[2]))
    answer = browser.post(found[1], data={**fields, "name": "A. Visitor"})
    if "data-confirms" in answer.text:
        asked = dict(FIELD.findall(answer.text))
        browser.post(found[1], data={**asked, "proof": "key:" + "A" * 86})
        return "asked to confirm with the person's key"
    return f"HTTP {answer.status_code}"


def use_the_key(server: Server) -> str:
    """Approve and send with a key that has every right."""
    answers = [
        server.call("chieflab_approve_action", {"actionId": server.action_id, "send": True}),
        server.call("chieflab_execute_approved_action", {"actionId": server.action_id}),
    ]
    return ", ".join(str(each.get("reason")) for each in answers)


def open_the_link(server: Server) -> str:
    """Open the review link as a person would, and press the button."""
    browser = server.browser()
    browser.get(server.staged["reviewUrl"].removeprefix(server.url), follow_redirects=True)
    return press_approve(server, browser)


def call_every_tool(server: Server) -> str:
    """Call each tool of the server with the ids of the post."""
    known = {"actionId": server.action_id, "runId": server.staged["runId"], "approved": True}
    paths = httpx.get(f"{server.url}/openapi.json").json()["paths"]
    tools = [path.rpartition("/")[2] for path in paths if path.startswith("/api/tools/")]
    for tool in tools:
        schema = paths[f"/api/tools/{tool}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        wanted = schema.get("properties", {})
        if tool in ("chieflab_reject_action", "chieflab_edit_action"):
            continue  # they would end the attack
        server.call(tool, {name: value for name, value in known.items() if name in wanted})
    return f"{len(tools)} tools called"


def replay_the_cookie(server: Server, cookies: httpx.Cookies | None = None) -> str:
    """Use the session of a signed-in person from somewhere else: decide, then loosen the policy."""
    thief = server.browser()
    thief.cookies.update(cookies if cookies is not None else server.sign_in().cookies)
    said = press_approve(server, thief)
    page = thief.get("/settings/policy")
    if cookies is None and page.status_code != 200:
        raise SystemExit("The stolen cookie opens no page, so this attack proves nothing.")
    fields = dict(FIELD.findall(page.text))
    thief.post("/settings/policy", data={**fields, "preset": "relay", "rules": ""})
    if server.run("policy", "show")["policy"] != {"preset": "people"}:
        raise SystemExit("BROKEN: a stolen cookie changed the policy.")
    return said


def serve_another_port(server: Server) -> str:
    """Serve a page on another port, which the person's browser sends its cookies to."""
    caught: list[str] = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            caught.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    trap = http.server.HTTPServer(("localhost", 0), Page)
    threading.Thread(target=trap.serve_forever, daemon=True).start()
    try:
        server.sign_in().get(f"http://localhost:{trap.server_port}/your-app-preview")
    finally:
        trap.shutdown()
        trap.server_close()
    if "assent-session" not in caught[0]:
        return "no cookie arrived"
    pairs = (part.strip().partition("=") for part in caught[0].split(";"))
    return replay_the_cookie(server, httpx.Cookies({name: value for name, _, value in pairs}))


def claim_a_signup(server: Server) -> str:
    """Sign up, claim the key itself, and decide with that session and that key."""
    asked = server.call("chieflab_signup_workspace", {"email": "agent@example.org"})
    browser = server.browser()
    page = browser.post(asked["deliveryUrl"].removeprefix(server.url)).text
    said = press_approve(server, browser)
    found = re.search(r"clp_live_[A-Za-z0-9_-]{64}", page)
    if found is not None:
        said += (
            f", {server.call('chieflab_approve_action', {'actionId': server.action_id}, found[0])['reason']}"
        )
    return said


def start_a_server(server: Server) -> str:
    """Start another server, with the loosest policy, and use what it signs on the first one."""
    with tempfile.TemporaryDirectory() as folder:
        own = Server(Path(folder), "relay")
        try:
            own.start()
            own.prepare()
            said = replay_the_cookie(server, own.sign_in().cookies)
            token = own.staged["reviewUrl"].partition("token=")[2]
            browser = server.browser()
            answer = browser.get(f"/runs/{server.staged['runId']}", params={"token": token})
            key = server.call("chieflab_approve_action", {"actionId": server.action_id}, own.key)
            return f"{said}, link HTTP {answer.status_code}, {key['reason']}"
        finally:
            own.stop()


def use_another_user(server: Server) -> str:
    """Read the data, and print a sign-in link, as another user of the machine."""
    if os.geteuid() != 0:
        return "not played: only root can become another user"
    words = [*ASSENT, "owner-link", "--json", "--data-dir", str(server.data)]
    tried = [["cat", *map(str, server.data.glob("*"))], ["ls", str(server.data)], words]
    for command in tried:
        with contextlib.suppress(PermissionError):
            done = subprocess.run(
                command, user="nobody", group="nogroup", extra_groups=[], capture_output=True, cwd="/"
            )
            if done.returncode == 0:
                raise SystemExit(f"BROKEN: another user may run {' '.join(command[:3])}")
    return "no file can be read, no link can be printed"


ATTACKS: dict[str, Callable[[Server], str]] = {
    "a valid key": use_the_key,
    "the review link": open_the_link,
    "every tool": call_every_tool,
    "a stolen cookie": replay_the_cookie,
    "a page on another port": serve_another_port,
    "a claimed sign-up": claim_a_signup,
    "a server of its own": start_a_server,
    "a shell under another user": use_another_user,
}


@contextlib.contextmanager
def prepared(policy: str) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "data", policy)
        try:
            server.start()
            server.prepare()
            yield server
        finally:
            server.stop()


def main(policy: str = "people") -> int:
    """Play every attack against a new server with this policy."""
    with prepared(policy) as server:
        for name, play in ATTACKS.items():
            said = play(server)
            record = server.record()
            if record["status"] != "awaiting_approval" or record["externalId"]:
                print(f"BROKEN: with {name} the action is {record['status']}.")
                return 1
            print(f"{name:28} {said}")
        print("Nothing was published. The post still waits for a person.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
