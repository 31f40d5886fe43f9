"""`assent connect` and `assent disconnect`: a key on standard input, against emulated providers."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent, Done
from tests.support.connectors.mail_server import Inbox, mail_server

from assent_conform.emulators.email import KEY as RESEND_KEY
from assent_conform.emulators.email import Resend
from assent_conform.emulators.zernio import KEY as ZERNIO_KEY
from assent_conform.emulators.zernio import Zernio
from assent_conform.testing.standalone import provider_process

KEYS = {"zernio": ZERNIO_KEY, "resend": RESEND_KEY}


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("providers")
    with (
        provider_process(Zernio, folder / "zernio.jsonl") as zernio,
        provider_process(Resend, folder / "resend.jsonl") as resend,
    ):
        yield {"zernio": zernio, "resend": resend}


@pytest.fixture
def wire(assent: Assent, bare_environment: pytest.MonkeyPatch, urls: dict[str, str]) -> Assent:
    bare_environment.setenv("ASSENT_ZERNIO_URL", urls["zernio"])
    bare_environment.setenv("ASSENT_RESEND_URL", urls["resend"])

    def call(*arguments: str, key: str = "") -> Done:
        bare_environment.setattr("sys.stdin", io.StringIO(f"{key}\n"))
        return assent(*arguments)

    return call


@pytest.mark.slow
def test_a_key_is_checked_kept_and_never_shown(wire: Assent, data_dir: Path) -> None:
    for provider, key in KEYS.items():
        done = wire("connect", provider, "--key-stdin", "--json", key=key)
        assert done.code == 0, done.err
        assert (done.data["provider"], done.data["connected"]) == (provider, True)
        assert done.data["accounts"]
        assert key not in done.out + done.err
    assert not [path for path in data_dir.iterdir() if ZERNIO_KEY.encode() in path.read_bytes()]
    doctor = wire("doctor", "--json")
    (check,) = [each for each in doctor.data["checks"] if each["name"] == "connections"]
    assert "zernio connected (1)" in check["detail"] and "resend connected (1)" in check["detail"]
    assert wire("disconnect", "zernio").code == 0
    again = wire("disconnect", "zernio")
    assert again.code == 1 and "not connected" in again.err


@pytest.mark.slow
def test_the_accounts_to_use_can_be_chosen(wire: Assent) -> None:
    done = wire("connect", "zernio", "--key-stdin", "--account", "acc_linkedin_ada", "--json", key=ZERNIO_KEY)
    assert [each["id"] for each in done.data["accounts"] if each["default"]] == ["acc_linkedin_ada"]
    unknown = wire("connect", "zernio", "--key-stdin", "--account", "acc_nobody", key=ZERNIO_KEY)
    assert unknown.code == 1 and "acc_linkedin" in unknown.err
    text = wire("connect", "resend", "--key-stdin", "--from", "Ann <ann@example.org>", key=RESEND_KEY)
    assert text.code == 0 and "Resend is connected" in text.out


@pytest.mark.slow
def test_what_cannot_be_connected_says_why(wire: Assent) -> None:
    wrong = "sk_" + "f" * 64
    for arguments, key, said in (
        (("connect", "zernio", "--key-stdin"), wrong, "does not accept this key"),
        (("connect", "zernio", "--key-stdin"), "", "not a key"),
        (("connect", "zernio", "--key-stdin"), "two words", "not a key"),
        (("connect", "zernio"), ZERNIO_KEY, "--key-stdin"),
        (("connect", "ga4", "--key-stdin"), ZERNIO_KEY, "browser"),
        (("connect", "nobody", "--key-stdin"), ZERNIO_KEY, "bluesky, resend, slack, smtp, zernio"),
        (("connect", "zernio", "--key-stdin", "--workspace", "nobody"), ZERNIO_KEY, "nobody"),
        (("connect", "resend", "--key-stdin", "--from", "nobody"), RESEND_KEY, "--from"),
    ):
        done = wire(*arguments, key=key)
        assert done.code == 1, arguments
        assert said in done.err, (arguments, done.err)
        assert wrong not in done.err and "Traceback" not in done.err


@pytest.mark.slow
def test_a_mail_server_of_this_network_is_connected_in_the_terminal(wire: Assent, data_dir: Path) -> None:
    sender, password = "Ann <ann@example.org>", "hunter2-and-more"
    with mail_server_in_a_thread() as port:
        address = f"smtp://127.0.0.1:{port}"
        unnamed = wire("connect", "smtp", "--key-stdin", key=address)
        assert unnamed.code == 1 and "--from" in unnamed.err
        done = wire("connect", "smtp", "--key-stdin", "--from", sender, "--json", key=address)
        assert done.code == 0, done.err
        assert (done.data["provider"], done.data["accounts"][0]["name"]) == ("smtp", "127.0.0.1")
        signing_in = f"smtp://ann:{password}@127.0.0.1:{port}"
        refused = wire("connect", "smtp", "--key-stdin", "--from", sender, key=signing_in)
    assert refused.code == 1 and password not in refused.err + refused.out
    assert wire("disconnect", "smtp").code == 0


@contextmanager
def mail_server_in_a_thread() -> Iterator[int]:
    """A mail server without accounts, while a command has this thread."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    ports: list[int] = []
    ended = asyncio.Event()

    async def serve() -> None:
        async with mail_server(Inbox()) as port:
            ports.append(port)
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(10)
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()
