"""Plays a tutorial as a newcomer does: types its blocks, saves its files, presses its buttons, compares its output.

A tutorial has these forms, and `play` does nothing else:

- A block `sh` is typed into a terminal; after a paragraph that says *another terminal*, into a new one.
- A block `output` follows what was typed: `…` is any text of a line, a line `…` alone is any number of lines.
- *Save this as NAME:* comes before the text of a file.
- *answer **2*** is typed into the program that asks.
- In a numbered list *the link* opens the last printed address, `**bold**` is a button or link to press, and
  “quoted” is text that the page shows.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import termios
import threading
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

from packages.core.tests.system.review.test_owner_link import BROWSER
from tests.support.docs.pages import DOCS
from tests.support.keyed_browser import ConfirmPage, KeyedClient, is_confirm_page
from tests.support.processes.running import DEADLINE_SECONDS, environment, eventually, free_port
from tests.support.warm_shell import WarmCommands

PORT = ":8080"
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
SAVE = re.compile(r"Save this as \*([\w.-]+)\*:$")
ANSWER = re.compile(r"answer \*\*(.+?)\*\*")
CLICK = re.compile(r"(the link)|\*\*(.+?)\*\*|“(.+?)”")
LINK = re.compile(r"http://localhost\S+")
LOOP = 'exec 3<"$0"; while read -r block <&3; do . "$block"; printf "\\036%s\\036" $?; done'
"""Runs one file after another in the same shell, and writes the exit code of each between two marks."""
DONE = re.compile("\036(\\d+)\036")


class Terminal:
    """A shell in a window of its own."""

    def __init__(self, folder: Path, env: dict[str, str], orders: Path) -> None:
        self._near, far = pty.openpty()
        attributes = termios.tcgetattr(far)
        attributes[1] &= ~termios.OPOST
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(far, termios.TCSANOW, attributes)
        os.mkfifo(orders)
        shell = ["sh", "-c", LOOP, str(orders)]
        self._shell = subprocess.Popen(shell, cwd=folder, env=env, stdin=far, stdout=far, stderr=far)
        os.close(far)
        self._orders = os.open(orders, os.O_WRONLY)
        self._typed = False
        self.shown = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while given := os.read(self._near, 65536):
                self.shown += given.decode()
        except OSError:  # the last program has closed it
            return

    def type(self, block: Path) -> None:
        self.finish()
        self._typed, self.shown = True, ""
        os.write(self._orders, f"{block}\n".encode())

    def answer(self, text: str) -> None:
        eventually(lambda: self.shown.endswith("]: "), f"the program asks: {self.shown}")
        self.shown = ""
        os.write(self._near, f"{text}\n".encode())

    def finish(self) -> None:
        """Wait until the shell takes another command."""
        if self._typed:
            done = eventually(lambda: DONE.search(self.shown), f"the command ends: {self.shown}")
            assert done is not None and done[1] == "0", self.shown

    def compare(self, expected: str) -> None:
        """Wait until the output is as printed on the page."""
        wanted = re.compile(pattern(expected))

        def is_shown() -> bool:
            text, *ended = DONE.split(self.shown)
            found = wanted.match(text)
            assert found or not ended, f"expected:\n{expected}\nshown:\n{text}"
            return found is not None and (not ended or found.end() == len(text))

        try:
            eventually(is_shown, "the output")
        except AssertionError as error:
            raise AssertionError(f"{error}\nexpected:\n{expected}\nshown:\n{self.shown}") from None

    def close(self) -> None:
        os.close(self._orders)
        self._shell.kill()
        self._shell.wait()
        os.close(self._near)


def pattern(expected: str) -> str:
    lines = [
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\s*\n?"
        for line in expected.splitlines()
    ]
    return r"\s*" + "".join(lines)


class Controls(HTMLParser):
    """The links and the forms of a page by their words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.buttons: dict[str, tuple[str, dict[str, str], bool]] = {}
        self._form: tuple[str, dict[str, str]] = ("", {})
        self._signs = False
        self._control: dict[str, str] | None = None
        self._words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = (given.get("action", ""), {})
            # A script signs what is confirmed at once; "ask" is a second press.
            self._signs = given.get("data-signs") == ""
        elif tag == "input" and given.get("type") not in ("radio", "checkbox"):
            self._form[1][given.get("name", "")] = given.get("value", "")
        elif tag in ("a", "button"):
            self._control, self._words = given, ""

    def handle_data(self, data: str) -> None:
        self._words += data

    def handle_endtag(self, tag: str) -> None:
        if self._control is None or tag not in ("a", "button"):
            return
        words, address = " ".join(self._words.split()), self._form[0]
        if tag == "a":
            self.links.setdefault(words, self._control.get("href", ""))
        else:
            pressed = {self._control["name"]: self._control["value"]} if "name" in self._control else {}
            self.buttons.setdefault(words, (address, {**self._form[1], **pressed}, self._signs))
        self._control = None


class Window:
    """A browser and the page that it shows."""

    def __init__(self) -> None:
        self._http = KeyedClient(headers=BROWSER, timeout=DEADLINE_SECONDS, follow_redirects=True)
        self._http.confirms = False

    def open(self, url: str) -> None:
        self._shown = self._http.get(url)
        assert self._shown.status_code == 200, url

    def press(self, words: str) -> None:
        here = str(self._shown.url)
        controls = eventually(lambda: self._find(words), f"{words} on {here}")
        assert controls is not None
        if words not in controls.buttons:
            link = next(link for name, link in controls.links.items() if name.startswith(words))
            self.open(urljoin(here, link))
            return
        address, fields, signs = controls.buttons[words]
        if not is_confirm_page(self._shown):
            self._send(address, fields)
            if not (signs and is_confirm_page(self._shown)):
                return
        self._confirm()

    def _confirm(self) -> None:
        fields = self._http.sign(self._shown)
        assert fields is not None
        self._send(ConfirmPage(self._shown.text).path, fields)

    def _send(self, address: str, fields: dict[str, str]) -> None:
        self._shown = self._http.post(urljoin(str(self._shown.url), address), data=fields)
        assert self._shown.status_code == 200, self._shown.text

    def _find(self, words: str) -> Controls | None:
        """The page, loaded again if it does not have the button or link yet."""
        controls = Controls(self._shown.text)
        if words in controls.buttons or any(name.startswith(words) for name in controls.links):
            return controls
        self.open(str(self._shown.url))
        return None

    def look_for(self, text: str) -> None:
        shown = " ".join(unescape(re.sub(r"<[^>]+>", " ", self._shown.text)).split())
        assert text in shown, shown

    def close(self) -> None:
        self._http.close()


def play(page: str, folder: Path) -> None:
    """Play a page in an empty folder, with an empty home."""
    home, work, blocks, port = folder / "home", folder / "work", folder / "blocks", free_port()
    for each in (home, work, blocks):
        each.mkdir()
    text = (DOCS / page).read_text(encoding="utf-8").replace(PORT, f":{port}")
    with WarmCommands(folder / "bin") as commands:
        env = {name: value for name, value in environment({}).items() if not name.startswith("XDG_")}
        env.update(
            {
                "ASSENT_PORT": str(port),
                "ASSENT_OPEN_BROWSER": "false",
                "HOME": str(home),
                "NO_COLOR": "1",
                "PATH": os.pathsep.join([str(commands.folder), os.environ["PATH"]]),
                "TERM": "dumb",
            }
        )
        terminals, window, before = [Terminal(work, env, blocks / "first")], Window(), ""
        try:
            for number, part in enumerate(parts(text)):
                if found := FENCE.fullmatch(part):
                    language, code = found.groups()
                    if saved := SAVE.search(before):
                        (work / saved[1]).write_text(code)
                    elif language == "output":
                        terminals[-1].compare(code)
                    else:
                        assert language == "sh", f"neither typed nor saved: {part}"
                        if "another terminal" in before:
                            terminals.append(Terminal(work, env, blocks / "second"))
                        (blocks / f"{number}.sh").write_text(code)
                        terminals[-1].type(blocks / f"{number}.sh")
                elif part.startswith("1. "):
                    click(part, window, terminals[-1])
                elif answer := ANSWER.search(part):
                    terminals[-1].answer(answer[1])
                before = " ".join(part.split())
            if len(terminals) > 1:
                terminals[-1].finish()
        finally:
            window.close()
            for terminal in terminals:
                terminal.close()


def parts(text: str) -> list[str]:
    """Paragraphs, lists and blocks of code."""
    found, rest = [], text
    while fence := re.search(r"^```\w+\n.*?^```$", rest, re.MULTILINE | re.DOTALL):
        found += [*rest[: fence.start()].split("\n\n"), fence[0]]
        rest = rest[fence.end() :]
    return [part.strip() for part in [*found, *rest.split("\n\n")] if part.strip()]


def click(steps: str, window: Window, terminal: Terminal) -> None:
    for link, pressed, shown in CLICK.findall(" ".join(steps.split())):
        if link:
            window.open(eventually(lambda: LINK.findall(terminal.shown), "a link is printed")[-1])
        elif pressed:
            window.press(pressed)
        else:
            window.look_for(shown)
