"""The registry lists every module of channels, and loading it is cheap."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from assent_launch import channels
from assent_launch.channels.registry import CONNECTORS, MODULES, TABLE

FOLDER = Path(channels.__file__).parent
SHARED = {"__init__", "channel", "factory", "key_connector", "registry"}
OWN = "site"
"""The provider that is this server itself."""

LOADED = """
import json, sys
from assent_launch.extension import list_connectors, list_types
list_connectors(), tuple(list_types())
print(json.dumps([name for name in sys.modules if name.startswith(("assent_launch", "httpx", "starlette"))]))
"""


def test_every_file_and_folder_is_registered() -> None:
    on_disk = {each.stem for each in FOLDER.iterdir() if each.name != "__pycache__"} - SHARED
    assert {module.__name__.rpartition(".")[2] for module in MODULES} == on_disk


def test_a_channel_with_a_folder_has_its_name() -> None:
    for module in MODULES:
        if hasattr(module, "__path__"):
            assert {f"assent_launch.channels.{row.id}" for row in getattr(module, "CHANNELS", ())} <= {
                module.__name__
            }


def test_every_connector_of_a_channel_is_described() -> None:
    described = {info.id for info in CONNECTORS}
    assert {name for row in TABLE for name in row.connectors} <= described


def test_every_provider_has_its_connector_and_its_emulator() -> None:
    providers = [module.__name__.rpartition(".")[2] for module in MODULES if hasattr(module, "CONNECTORS")]
    assert len(providers) == 7
    for name in providers:
        assert (FOLDER / name / "connector.py").exists()
        assert (find_spec(f"assent_conform.emulators.{name}") is not None) == (name != OWN)


def test_types_and_descriptions_load_no_connector_and_no_emulator() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = json.loads(done.stdout)

    assert "assent_launch.channels.email.types" in loaded
    slow = ("connector", "emulator", "factory", "smtp", "resend", "httpx", "starlette")
    assert [
        name
        for name in loaded
        if name.rpartition(".")[2] in slow or name.startswith("assent_conform.testing")
    ] == []
