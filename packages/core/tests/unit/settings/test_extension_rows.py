"""Rows of extensions: ours beside the server's own, those of others in their sections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.settings.load import SettingsError, load_settings, read_sections
from assent.settings.table import Kind, Setting

URL = Setting(
    name="letters_url", kind=Kind.ENDPOINT, default="https://letters.example", doc="Where letters go."
)
KEY = Setting(name="letters_key", kind=Kind.TOKEN, of_owner=True, doc="The key for letters.")
HOST = Setting(name="host", default="any", doc="A name that the server has, too.")


def write(folder: Path, text: str) -> dict[str, object]:
    file = folder / "assent.toml"
    file.write_text(text)
    file.chmod(0o600)
    return {"config": str(file)}


def test_a_row_of_ours_is_read_as_the_server_s_own(tmp_path: Path) -> None:
    flags = write(tmp_path, 'letters_url = "https://a.example/"\nletters_key = "hush-hush"\n')
    environ = {"HOME": str(tmp_path), "ASSENT_LETTERS_URL": "https://b.example"}
    loaded = load_settings(flags, environ, (URL, KEY))
    assert loaded.settings.added == {"letters_url": "https://b.example", "letters_key": "hush-hush"}
    assert loaded.settings.hidden == ("hush-hush",)
    assert loaded.sources["letters_url"] == "environment ASSENT_LETTERS_URL"
    assert loaded.warnings == ()
    assert load_settings({}, {"HOME": str(tmp_path)}, (URL,)).settings.added == {"letters_url": URL.default}


def test_a_server_without_the_package_does_not_know_its_row(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "ASSENT_LETTERS_URL": "https://b.example"}
    [warning] = load_settings({}, environ).warnings
    assert "ASSENT_LETTERS_URL" in warning
    with pytest.raises(SettingsError, match="letters_url"):
        load_settings(write(tmp_path, 'letters_url = "https://a.example"\n'), environ)


def test_a_section_has_the_rows_of_its_extension_alone(tmp_path: Path) -> None:
    flags = write(tmp_path, '[extension.acme]\nletters_url = "https://a.example"\n')
    settings = load_settings(flags, {"HOME": str(tmp_path)}).settings
    found = read_sections(settings, {"acme": (URL, HOST), "other": (HOST,)})
    assert found == {"acme": {"letters_url": "https://a.example", "host": "any"}, "other": {"host": "any"}}


@pytest.mark.parametrize(
    ("sections", "named"),
    [
        ({"acme": {"letters_url": 5}}, "letters_url"),
        ({"acme": {"letter_url": "https://a.example"}}, "Did you mean 'letters_url'"),
        ({"acme": 5}, "is no section"),
        ({"nowhere": {}}, "no extension is called nowhere"),
        ([], "is no section"),
    ],
)
def test_a_mistake_in_a_section_is_named(sections: Any, named: str, tmp_path: Path) -> None:
    settings = load_settings({}, {"HOME": str(tmp_path)}).settings
    with pytest.raises(SettingsError, match=named):
        read_sections(msgspec.structs.replace(settings, sections=sections), {"acme": (URL,)})
