"""`assent connect` and `assent disconnect`: a key on standard input, against emulated providers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Assent, Done

from assent.testing.resend import KEY as RESEND_KEY
from assent.testing.standalone import provider_process
from assent.testing.zernio import KEY as ZERNIO_KEY

KEYS = {"zernio": ZERNIO_KEY, "resend": RESEND_KEY}


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("providers")
    with (
        provider_process("zernio", folder / "zernio.jsonl") as zernio,
        provider_process("resend", folder / "resend.jsonl") as resend,
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
        (("connect", "nobody", "--key-stdin"), ZERNIO_KEY, "bluesky, resend, slack, zernio"),
        (("connect", "zernio", "--key-stdin", "--workspace", "nobody"), ZERNIO_KEY, "nobody"),
        (("connect", "resend", "--key-stdin", "--from", "nobody"), RESEND_KEY, "--from"),
    ):
        done = wire(*arguments, key=key)
        assert done.code == 1, arguments
        assert said in done.err, (arguments, done.err)
        assert wrong not in done.err and "Traceback" not in done.err
