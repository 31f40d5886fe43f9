"""The first sign-in after `make run`, in a real browser: the server is started as the Makefile starts it, on a
terminal, with an empty home."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.support.chromium import closed
from tests.support.processes.running import DEADLINE_SECONDS, environment, free_port

pytestmark = pytest.mark.slow

LINK = re.compile(r"http://localhost:\d+/sign-in/[A-Za-z0-9_-]{54}")


def read_run_command() -> list[str]:
    """The command of `make run`, after its installation."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    words = ["make", "--dry-run", "--no-print-directory", "run"]
    asked = subprocess.run(words, capture_output=True, text=True, check=True, env=outside)
    command = asked.stdout.strip().splitlines()[-1].removeprefix("exec ").split()
    assert command[-1] == "serve", command
    return command


@contextmanager
def on_a_terminal(command: list[str], environ: dict[str, str]) -> Iterator[str]:
    """Start a command on a terminal of its own; the link that it shows there once it has answered its question."""
    controller, terminal = os.openpty()
    process = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=environ, start_new_session=True
    )
    os.close(terminal)
    shown, answered = "", False
    try:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not (found := LINK.search(shown)):
            assert time.monotonic() < deadline, shown
            if select.select([controller], [], [], 0.05)[0]:
                shown += os.read(controller, 65_536).decode(errors="replace")
            if "Choose 1 or 2" in shown and not answered:
                os.write(controller, b"1\n")
                answered = True
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE_SECONDS)
        os.close(controller)


async def test_the_first_sign_in_after_make_run_takes_two_steps_and_the_start_page_leads_there(
    browser: Browser, tmp_path: Path
) -> None:
    address = f"http://localhost:{(port := free_port())}"
    given = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "ASSENT_PORT": str(port)}
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    steps = 0
    with on_a_terminal(read_run_command(), environment(given) | {"ASSENT_OPEN_BROWSER": "false"}) as link:
        assert link.startswith(address)
        await page.goto(address)
        leads = page.get_by_role("main").get_by_role("link", name="Sign in", exact=True).first
        assert str(await leads.get_attribute("href")).startswith("/sign-in")

        steps += 1
        await page.goto(link)
        await page.get_by_label("Your name").fill("Ingrid Solberg")
        steps += 1
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url(re.compile("/(inbox|start)$"))

        assert steps == 2
        await page.goto(address)
        await expect(page).to_have_url(re.compile("/(inbox|start)$"))
        await expect(page.locator(".side-nav")).to_contain_text("Inbox")
    await closed(context)
