"""The pictures in docs/screens are those of the registry, and small."""

from __future__ import annotations

from pathlib import Path

from tests.support.shell.gallery import MOST_BYTES, SHOTS

ROOT = Path(__file__).resolve().parents[3]
SCREENS = ROOT / "docs" / "screens"


def test_every_screen_of_the_registry_has_a_small_picture_and_no_other_is_there() -> None:
    assert {each.name for each in SCREENS.iterdir()} == {f"{shot.name}.png" for shot in SHOTS}
    for each in SCREENS.iterdir():
        assert each.read_bytes().startswith(b"\x89PNG")
        assert each.stat().st_size <= MOST_BYTES, each.name


def test_the_readme_shows_three_of_them() -> None:
    shown = [
        shot.name for shot in SHOTS if f"docs/screens/{shot.name}.png" in (ROOT / "README.md").read_text()
    ]
    assert len(shown) == 3
