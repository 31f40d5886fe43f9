"""Where secrets come from: made once for SQLite, set by hand for PostgreSQL, never weak or shared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from assent.settings.load import Settings, SettingsError
from assent.settings.secret_files import HOMES, Secrets, ensure_data_dir, missing_secrets, resolve_secrets

STRONG = "k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ"
STRONGER = "Zr4Xw9Kd-Lm2Qe7Tn5Vb8Yc3Hs6Fj1Pg"


@pytest.fixture
def embedded(tmp_path: Path) -> Settings:
    data_dir = tmp_path / "data"
    return Settings(
        data_dir=data_dir, database_url=f"sqlite:///{data_dir}/assent.db", base_url="http://127.0.0.1:8080"
    )


def replica(settings: Settings, **values: tuple[str, ...]) -> Settings:
    return msgspec.structs.replace(settings, database_url="postgresql://u:p@db/assent", **values)


def refused(settings: Settings) -> str:
    with pytest.raises(SettingsError) as caught:
        resolve_secrets(settings)
    return str(caught.value)


def test_the_first_start_makes_secrets_that_only_the_owner_can_read(embedded: Settings) -> None:
    first = resolve_secrets(embedded)
    assert first == resolve_secrets(embedded)
    assert first.run_token != first.master
    assert embedded.data_dir.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in embedded.data_dir.iterdir()) == sorted(
        home.file_name for home in HOMES
    )
    for home in HOMES:
        assert (embedded.data_dir / home.file_name).stat().st_mode & 0o777 == 0o600


def test_secrets_are_made_private_whatever_the_umask(embedded: Settings) -> None:
    before = os.umask(0)
    try:
        resolve_secrets(embedded)
    finally:
        os.umask(before)
    assert embedded.data_dir.stat().st_mode & 0o077 == 0
    assert not [path for path in embedded.data_dir.iterdir() if path.stat().st_mode & 0o077]


def test_processes_that_start_at_once_agree_on_one_secret(embedded: Settings) -> None:
    """Each process waits for its line before it resolves, so that all of them meet at the missing files."""
    program = (
        "import sys; from pathlib import Path; from assent.settings.load import load_settings;"
        "from assent.settings.secret_files import resolve_secrets;"
        "settings = load_settings({'data_dir': sys.argv[1]}, {'HOME': '/nonexistent'}).settings;"
        "print('ready', flush=True); sys.stdin.readline(); secrets = resolve_secrets(settings);"
        "print((secrets.run_token + secrets.master))"
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(embedded.data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = {racer.communicate(timeout=60)[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0] * 6
    assert len(answers) == 1
    assert len(list(embedded.data_dir.iterdir())) == len(HOMES), "no draft is left behind"


def test_a_setting_wins_over_the_file(embedded: Settings) -> None:
    made = resolve_secrets(embedded)
    given = resolve_secrets(msgspec.structs.replace(embedded, run_token_secrets=(STRONG, STRONGER)))
    assert given == Secrets(run_token=(STRONG.encode(), STRONGER.encode()), master=made.master)


def test_a_file_rotates_by_a_line_above(embedded: Settings) -> None:
    made = resolve_secrets(embedded)
    path = embedded.data_dir / "run_token.secret"
    path.write_text(f"{STRONG}\n\n{path.read_text()}")
    assert resolve_secrets(embedded).run_token == (STRONG.encode(), *made.run_token)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused_with_the_cure(embedded: Settings, mode: int) -> None:
    resolve_secrets(embedded)
    path = embedded.data_dir / "master.secret"
    path.chmod(mode)
    assert f"chmod 600 {path}" in refused(embedded)


@pytest.mark.parametrize("weak", ["short", "a" * 64, STRONG[:31]])
def test_a_weak_secret_does_not_start(embedded: Settings, weak: str) -> None:
    message = refused(msgspec.structs.replace(embedded, run_token_secrets=(weak,)))
    assert message.startswith("RUN_TOKEN_SECRET is too weak")
    assert weak not in message
    earlier = refused(msgspec.structs.replace(embedded, secrets=(STRONG, weak)))
    assert "earlier secret of ASSENT_SECRET" in earlier


def test_an_emptied_file_is_refused_rather_than_replaced(embedded: Settings) -> None:
    resolve_secrets(embedded)
    (embedded.data_dir / "run_token.secret").write_text("\n")
    assert "is empty" in refused(embedded)


def test_postgresql_takes_secrets_from_settings_only(embedded: Settings) -> None:
    settings = replica(embedded, run_token_secrets=(STRONG,), secrets=(STRONGER,))
    assert resolve_secrets(settings) == Secrets(run_token=(STRONG.encode(),), master=(STRONGER.encode(),))
    assert not embedded.data_dir.exists()


def test_postgresql_without_secrets_says_which_to_set_and_how(embedded: Settings) -> None:
    both = refused(replica(embedded))
    assert "RUN_TOKEN_SECRET and ASSENT_SECRET are not set" in both
    assert "openssl rand" in both
    assert "ASSENT_SECRET is not set" in refused(replica(embedded, run_token_secrets=(STRONG,)))


def test_an_empty_directory_of_ours_is_closed_and_a_used_one_left_alone(tmp_path: Path) -> None:
    empty, used = tmp_path / "empty", tmp_path / "used"
    for path in (empty, used):
        path.mkdir()
        path.chmod(0o755)
    (used / "file").touch()
    ensure_data_dir(empty)
    ensure_data_dir(used)
    assert empty.stat().st_mode & 0o777 == 0o700
    assert used.stat().st_mode & 0o777 == 0o755


def test_a_data_directory_that_cannot_be_made_is_named_with_the_way_out(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    with pytest.raises(SettingsError, match="--data-dir"):
        ensure_data_dir(blocker / "data")


def test_looking_makes_nothing(embedded: Settings) -> None:
    assert missing_secrets(embedded) == HOMES
    assert not embedded.data_dir.exists()
    resolve_secrets(embedded)
    assert missing_secrets(embedded) == ()
    (embedded.data_dir / "master.secret").chmod(0o644)
    with pytest.raises(SettingsError):
        missing_secrets(embedded)


def test_secrets_do_not_show_themselves(embedded: Settings) -> None:
    secrets = resolve_secrets(embedded)
    assert secrets.master[0].decode() not in repr(secrets)
